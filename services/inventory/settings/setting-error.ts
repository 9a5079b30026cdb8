export const withoutPassword = (text: string) =>
  text.replace(/(\/\/[^\s:@/]*):\S*@/g, '$1:***@').replace(/([?&]password=)[^&\s]*/g, '$1***');

/** Ends the process with exit code 2 and the sentence as one line. */
export function exitWithSettingError(sentence: string): never {
  process.stderr.write(`${sentence.replace(/\s+/g, ' ')}\n`);
  process.exit(2);
}

/** The value of a setting as it may be shown: whatever stands before the host of an address may be a password. */
export const shown = (value: string) => withoutPassword(value.replace(/\/\/.*@/s, '//***@'));
