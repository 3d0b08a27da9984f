const longest = 80;

/** An expression in one line, for messages. */
export function shortSource(source: string): string {
  const line = source.replaceAll(/\s+/g, ' ');
  return line.length <= longest ? line : `${line.slice(0, longest - 3)}...`;
}
