export const withoutPassword = (text: string) =>
  text.replace(/(\/\/[^\s:@/]*):\S*@/g, '$1:***@').replace(/([?&]password=)[^&\s]*/g, '$1***');

/** Prints the sentence as one line and exits with code 2. */
export function exitWithSettingError(sentence: string): never {
  process.stderr.write(`${sentence.replace(/\s+/g, ' ')}\n`);
  process.exit(2);
}

/** A setting's value, safe to show: anything before the host of an address may be a password. */
export const shown = (value: string) => withoutPassword(value.replace(/\/\/.*@/s, '//***@'));
