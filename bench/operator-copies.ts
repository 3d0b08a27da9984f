import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Files with copies of the shipped operators, each with a name and a group of its own. */
export function writeOperatorCopies(folder: string, count: number): void {
  mkdirSync(folder);
  // The group of the other one is not ours to change.
  const originals = globSync('operators/*.yaml')
    .sort()
    .map((file) => ({ name: basename(file, '.yaml'), text: readFileSync(file, 'utf8') }))
    .filter(({ text }) => /^ {4}group: \w+\.example\.com$/m.test(text));
  for (let index = 0; index < count; index++) {
    const original = originals[index % originals.length];
    if (original === undefined) throw new Error('Expected operators in "operators"');
    const { name, text } = original;
    const copy = text
      .replaceAll(/(\w+)\.example\.com/g, `$1-${index}.example.com`)
      .replace(`\n  name: ${name}\n`, `\n  name: ${name}-${index}\n`);
    writeFileSync(join(folder, `${name}-${index}.yaml`), copy);
  }
}
