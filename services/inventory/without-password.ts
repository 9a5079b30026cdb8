/** A text without the passwords of the addresses in it. */
export const withoutPassword = (text: string) =>
  text.replace(/(\/\/[^\s:@/]*):\S*@/g, '$1:***@').replace(/([?&]password=)[^&\s]*/g, '$1***');
