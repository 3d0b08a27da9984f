/** A regular expression that matches exactly this text, without flags and in the syntax of JavaScript and RE2. */
export function escapedPattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
