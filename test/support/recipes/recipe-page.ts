import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A fenced block of a page. */
export interface Block {
  /** The language behind the fence: `yaml`, `console`, `diff`. */
  readonly language: string;
  readonly text: string;
  /** Line of the page, from 1. */
  readonly line: number;
}

/** A recipe in `docs/recipes`. Everything in its blocks is checked. */
export interface RecipePage {
  /** `optional-child`. */
  readonly name: string;
  readonly title: string;
  /** One `OperatorDefinition`. */
  readonly definition: string;
  /** Objects that are applied first. */
  readonly sample: string;
  /** Commands with their output, and objects that must exist, in order. */
  readonly steps: readonly Block[];
  /** Each a change of the definition. */
  readonly variations: readonly Block[];
  /** A change of the definition, then as `steps`. */
  readonly mistake: readonly Block[];
}

const folder = new URL('../../../docs/recipes/', import.meta.url);

/** The headings of a page, in order. */
export const recipeHeadings = [
  'Definition',
  'Sample',
  'What you see',
  'How it works',
  'Variations',
  'A common mistake',
] as const;

/** The index of the recipes. */
export function recipeIndex(): string {
  return readFileSync(new URL('README.md', folder), 'utf8');
}

/** All recipes, by name. @throws Error for a page without the expected sections */
export function recipePages(): readonly RecipePage[] {
  return readdirSync(fileURLToPath(folder))
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .sort()
    .map((file) => parsePage(basename(file, '.md'), readFileSync(new URL(file, folder), 'utf8')));
}

function parsePage(name: string, text: string): RecipePage {
  const { title, sections } = splitSections(text);
  const headings = [...sections.keys()];
  if (headings.join() !== recipeHeadings.join())
    throw new Error(`${name}.md: Expected the sections ${recipeHeadings}, found "${headings}"`);
  const blocksOf = (heading: (typeof recipeHeadings)[number]) => sections.get(heading) ?? [];
  const only = (heading: (typeof recipeHeadings)[number]) => {
    const [block, ...others] = blocksOf(heading);
    if (block === undefined || others.length > 0)
      throw new Error(`${name}.md: Expected one block under "${heading}"`);
    return block.text;
  };
  return {
    name,
    title,
    definition: only('Definition'),
    sample: only('Sample'),
    steps: blocksOf('What you see'),
    variations: blocksOf('Variations'),
    mistake: blocksOf('A common mistake'),
  };
}

function splitSections(text: string) {
  const sections = new Map<string, Block[]>();
  let title = '';
  let blocks: Block[] = [];
  let open: { readonly language: string; readonly line: number } | undefined;
  let body = '';
  for (const [index, line] of text.split('\n').entries()) {
    if (open !== undefined) {
      if (line !== '```') body += `${line}\n`;
      else {
        blocks.push({ ...open, text: body });
        open = undefined;
      }
    } else if (line.startsWith('```')) {
      open = { language: line.slice(3), line: index + 1 };
      body = '';
    } else if (line.startsWith('# ')) title = line.slice(2);
    else if (line.startsWith('## ')) {
      blocks = [];
      sections.set(line.slice(3), blocks);
    }
  }
  return { title, sections };
}

/** Lines of a page, and what to write in their place. */
export interface Correction {
  /** The first line, from 1. */
  readonly line: number;
  /** How many. */
  readonly count: number;
  readonly lines: readonly string[];
}

/** Writes a page with corrections. */
export function correctPage(name: string, corrections: readonly Correction[]): void {
  const file = new URL(`${name}.md`, folder);
  const lines = readFileSync(file, 'utf8').split('\n');
  for (const { line, count, lines: replacement } of corrections.toSorted((a, b) => b.line - a.line))
    lines.splice(line - 1, count, ...replacement);
  writeFileSync(file, lines.join('\n'));
}

/**
 * Applies a `diff` block to a text. A hunk ends at an empty line; its unchanged and removed lines must be found once.
 * @throws Error for a hunk that is not found, or more than once
 */
export function applyDiff(text: string, diff: string): string {
  return diff.split(/\n{2,}/).reduce((result, hunk) => {
    const lines = hunk.split('\n').filter((line) => line !== '');
    if (lines.length === 0) return result;
    const sideOf = (other: string) =>
      lines
        .filter((line) => !line.startsWith(other))
        .map((line) => `${line.slice(1)}\n`)
        .join('');
    const pieces = `\n${result}`.split(`\n${sideOf('+')}`);
    if (pieces.length !== 2)
      throw new Error(`Expected these lines once in the definition:\n${sideOf('+')}`);
    return pieces.join(`\n${sideOf('-')}`).slice(1);
  }, text);
}
