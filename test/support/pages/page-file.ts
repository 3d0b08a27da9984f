import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Edit, edited, type Section, sectionsOf } from './page.ts';
import type { Difference } from './page-runner.ts';

/** Are the pages to be written anew? `npm run rewrite:pages` says so. */
export function isRewriting(): boolean {
  return process.env.HOMEOSTAT_REWRITE_PAGES === '1';
}

/** A page of `docs/`, and what of it is to be written anew. */
export class Page {
  readonly sections: readonly Section[];
  readonly #file: string;
  readonly #text: string;
  readonly #edits: Edit[] = [];

  constructor(path: string) {
    this.#file = fileURLToPath(new URL(`../../../docs/${path}`, import.meta.url));
    this.#text = readFileSync(this.#file, 'utf8');
    this.sections = sectionsOf(this.#text);
  }

  /** Fails at the first difference; when rewriting, notes all of them for {@link save}. */
  settle(differences: readonly Difference[]): void {
    if (isRewriting()) this.#edits.push(...differences.map(({ edit }) => edit));
    for (const { command, shown, output } of isRewriting() ? [] : differences)
      assert.equal(output.join('\n'), shown.join('\n'), `${command}: npm run rewrite:pages`);
  }

  get lines(): readonly string[] {
    return this.#text.split('\n');
  }

  /** Notes a change of the page itself. */
  edit(edit: Edit): void {
    this.#edits.push(edit);
  }

  /** Writes the page, if there is something to write. */
  save(): void {
    if (this.#edits.length > 0) writeFileSync(this.#file, edited(this.#text, this.#edits));
  }
}
