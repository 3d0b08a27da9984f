/** What differs from run to run, and what takes its place before two outputs are compared. */
const masks: readonly (readonly [pattern: RegExp, text: string])[] = [
  // Ages: `5s`, `2m10s`, `(5s ago)`, `4s (x2 over 9s)`.
  [/(?<=[\s(]|^)(?:\d+[smhdy]){1,2}(?=\s|\)|$)/g, 'AGE'],
  [/ \(x\d+ over AGE\)/g, ''],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME'],
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID'],
  // The address of a sandbox: any free port, and a path that cannot be guessed.
  [/127\.0\.0\.1:\d+(?:\/\w{32})?/g, 'ADDRESS'],
  [/\b(?:10|172|192)(?:\.\d+){3}\b/g, 'IP'],
  // Revisions of definitions: they change with every default of the format.
  [/\b[0-9a-f]{10}\b/g, 'REVISION'],
  // ReplicaSets and their Pods.
  [/-[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '-HASH-POD'],
  [/-[bcdfghjklmnpqrstvwxz2456789]{8,10}\b/g, '-HASH'],
  // EndpointSlices.
  [/-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '-SUFFIX'],
  [/\b[A-Za-z0-9+/]{27}=/g, 'BASE64'],
  // Columns are as wide as their longest text.
  [/[ \t]+/g, ' '],
  [/ $/g, ''],
];

/** A line without what differs from run to run. Pure. */
export function masked(line: string): string {
  return masks.reduce((text, [pattern, by]) => text.replaceAll(pattern, by), line);
}

/** Is this the output that a page shows? A line `...` of the page stands for any number of lines. Pure. */
export function isShown(shown: readonly string[], output: readonly string[]): boolean {
  const pattern = shown
    .map((line) => (line === '...' ? '(?:.*\\n)*?' : `${literal(masked(line))}\\n`))
    .join('');
  return new RegExp(`^${pattern}$`).test(output.map((line) => `${masked(line)}\n`).join(''));
}

/** A pattern that matches this text alone. */
function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/**
 * An output, shortened as the page shows it: what follows a line `...` of the page begins with the same line and is as long as it was.
 * The whole output where that line is not found. Pure.
 */
export function shortened(shown: readonly string[], output: readonly string[]): readonly string[] {
  const starts = shown.flatMap((line, index) => (line === '...' ? [index + 1] : []));
  if (starts.length === 0) return output;
  const result = [...output.slice(0, (starts[0] ?? 1) - 1)];
  let from = result.length;
  for (const [index, start] of starts.entries()) {
    result.push('...');
    const part = shown.slice(start, (starts[index + 1] ?? shown.length + 1) - 1);
    if (part.length === 0) continue;
    const found = output.findIndex(
      (line, at) => at >= from && masked(line) === masked(part[0] ?? ''),
    );
    if (found < 0) return output;
    result.push(...output.slice(found, found + part.length));
    from = found + part.length;
  }
  return isShown(result, output) ? result : output;
}
