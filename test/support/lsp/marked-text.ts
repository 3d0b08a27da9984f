import { readFileSync } from 'node:fs';

/** The definition of a shipped operator. */
export function operatorText(name: string): string {
  return readFileSync(new URL(`../../../operators/${name}.yaml`, import.meta.url), 'utf8');
}

/** A text with `|||` at the cursor. */
export function withoutCursor(marked: string): { readonly text: string; readonly offset: number } {
  const offset = marked.indexOf('|||');
  if (offset < 0) throw new Error('Expected "|||" at the cursor');
  return { text: marked.replace('|||', ''), offset };
}

/** A text in which the first place of a part is written otherwise, with the cursor. */
export function editedText(text: string, part: string, written: string) {
  if (!text.includes(part)) throw new Error(`Expected "${part}" in the text`);
  return withoutCursor(text.replace(part, () => written));
}
