// Formats numbers, times and lists for sentences.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** A count: `1234` as `1,234`. */
export function formatNumber(value: number): string {
  return whole.format(value).replace('-', '−').replace(/^−0$/, '0');
}

/** A measure: `1234.5` as `1,235`, `9.87` as `9.9`. Below a hundred it keeps one decimal. */
export function formatMeasure(value: number): string {
  return value < 99.95 ? tenths.format(value) : whole.format(value);
}

/** A duration in the unit that reads best: `1.2 ms`, `1.7 s`, `3 min 5 s`. */
export const formatDuration = durationIn({ ms: 'ms', s: 's', min: 'min' });

/** The same in Chinese: `350 毫秒`, `1.7 秒`, `3 分 5 秒`. */
export const durationInChinese = durationIn({ ms: '毫秒', s: '秒', min: '分' });

function durationIn(units: Record<'ms' | 's' | 'min', string>) {
  return (ms: number): string => {
    if (ms < 999.5) return `${formatMeasure(ms).replace('.0', '')} ${units.ms}`;
    if (ms < 59_500) return `${formatMeasure(ms / 1000).replace('.0', '')} ${units.s}`;
    const seconds = Math.round(ms / 1000);
    const rest = seconds % 60 > 0 ? [`${seconds % 60} ${units.s}`] : [];
    return [`${formatNumber(Math.floor(seconds / 60))} ${units.min}`, ...rest].join(' ');
  };
}

/** A moment of a drill: `1234.5` milliseconds as `1.235 s`. */
export function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(3)} s`;
}

/** A number of interleavings: exact up to 2^53, and its magnitude beyond. */
export function formatOrders(orders: number): string {
  if (orders <= Number.MAX_SAFE_INTEGER) return formatNumber(orders);
  const power = Math.floor(Math.log10(orders));
  const digits = [...String(power)].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('');
  return `about ${(orders / 10 ** power).toFixed(1)} × 10${digits}`;
}

/** `2026-11-21T10:15:00Z` as `21 November 2026`. */
export const formatDay = (iso: string): string =>
  new Date(iso).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** `2026-11-21T10:15:00Z` as `21 November 2026, 10:15 UTC`. */
export const formatMoment = (iso: string): string =>
  `${formatDay(iso)}, ${new Date(iso).toISOString().slice(11, 16)} UTC`;

/** The same in Chinese: `2026 年 11 月 21 日`, and with its time `2026 年 11 月 21 日 10:15 UTC`. */
export const dayInChinese = (iso: string): string => {
  const day = new Date(iso);
  return `${day.getUTCFullYear()} 年 ${day.getUTCMonth() + 1} 月 ${day.getUTCDate()} 日`;
};
export const momentInChinese = (iso: string): string =>
  `${dayInChinese(iso)} ${new Date(iso).toISOString().slice(11, 16)} UTC`;

/** `as expected` as `As expected`. */
export const capitalised = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

/** `1 cell`, `27 cells`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listOf(items: string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

export const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

/** A quantile of sorted values by nearest rank: the lowest value that at least `share` of them do not exceed. 0 if there are none. */
export const quantile = (sorted: number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;

/** A text by others, such as an error message, for use inside a sentence: without its own full stop. */
export const asClause = (text: string) => text.replace(/[.\s]+$/, '');
