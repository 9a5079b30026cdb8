// What the page says, in both languages side by side.

export const languages = ['en', 'zh'] as const;
export type Language = (typeof languages)[number];

/** `{name}` stands for a value. */
export const texts = {
  title: ['Lockstep: why a shop sells more than it has', 'Lockstep：商店为什么会超卖'],
  language: ['中文', 'English'],
  loading: ['The lab is being unpacked …', '正在打开实验室……'],
  lock: ['Lock', '锁'],
  playAll: ['Play all scenarios', '运行全部场景'],
  scenario: ['Scenario', '场景'],
  verdict: ['Verdict', '结论'],
  pass: ['✔ holds', '✔ 安全'],
  fail: ['✘ fails', '✘ 失败'],
  unknown: ['? not known', '? 无法判断'],
  'not-applicable': ['– nothing to break', '– 不适用'],
} satisfies Record<string, [en: string, zh: string]>;

export type Text = keyof typeof texts;

let language: Language = 'en';

export const spoken = () => language;

export function speak(chosen: Language) {
  language = chosen;
  document.documentElement.lang = chosen === 'zh' ? 'zh-CN' : 'en';
}

/** A text in the language of the page. */
export const say = (text: Text, values: Record<string, string | number> = {}) =>
  filled(texts[text][languages.indexOf(language)] ?? '', values);

export const filled = (text: string, values: Record<string, string | number>) =>
  text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
