import { withoutPassword } from './without-password.ts';

/** Ends the process with exit code 2 and the sentence as one line, without the password of a URL. */
export function exitWithSettingError(sentence: string): never {
  const line = withoutPassword(sentence.replace(/\s+/g, ' ').replace(/\/\/.*@/, '//***@'));
  process.stderr.write(`${line}\n`);
  process.exit(2);
}
