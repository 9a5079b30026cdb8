// Where Chromium is.

/** The program that pictures and the tests of pages use: /usr/bin/chromium, or what CHROMIUM names. */
export const browserPath = () => process.env['CHROMIUM'] || '/usr/bin/chromium';
