/** A fenced block of a page. */
export interface Block {
  /** First word after the fence: `yaml`, `console`. */
  readonly language: string;
  /** The other words after the fence: a file name, `fails`, `terminal=1`. */
  readonly words: readonly string[];
  readonly lines: readonly string[];
  /** Index of its first line (after the fence) among the lines of the page. */
  readonly first: number;
}

/** What is below one heading of the second level; the text before the first one is a section, too. */
export interface Section {
  readonly title: string;
  readonly blocks: readonly Block[];
}

const fence = /^```(.*)$/;

/** The sections of a page in Markdown, with their fenced blocks. Headings inside blocks do not count. Pure. */
export function sectionsOf(page: string): readonly Section[] {
  const sections: { title: string; blocks: Block[] }[] = [{ title: '', blocks: [] }];
  let open: { language: string; words: readonly string[]; first: number } | undefined;
  const lines = page.split('\n');
  for (const [index, line] of lines.entries()) {
    const info = fence.exec(line)?.[1];
    if (info !== undefined && open === undefined) {
      const [language = '', ...words] = info.trim().split(/\s+/);
      open = { language, words, first: index + 1 };
    } else if (info !== undefined && open !== undefined) {
      sections.at(-1)?.blocks.push({ ...open, lines: lines.slice(open.first, index) });
      open = undefined;
    } else if (open === undefined && line.startsWith('## ')) {
      sections.push({ title: line.slice(3), blocks: [] });
    }
  }
  if (open !== undefined) throw new Error(`The block in line ${open.first} has no end`);
  return sections;
}

/** A command of a `console` block, and what the page shows as its output. */
export interface Command {
  readonly text: string;
  readonly output: readonly string[];
  /** Index of the first line of the output among the lines of the page. */
  readonly first: number;
}

/** The commands of a block: lines that begin with `$ `. What comes before the first one is no command's. Pure. */
export function commandsOf({ lines, first }: Block): readonly Command[] {
  const starts = lines.flatMap((line, index) => (line.startsWith('$ ') ? [index] : []));
  return starts.map((start, index) => ({
    text: (lines[start] ?? '').slice(2),
    output: lines.slice(start + 1, starts[index + 1]),
    first: first + start + 1,
  }));
}

/** Lines of a page that are to be others. */
export interface Edit {
  readonly first: number;
  readonly count: number;
  readonly lines: readonly string[];
}

/** The page with these edits. They must not overlap. Pure. */
export function edited(page: string, edits: readonly Edit[]): string {
  const lines = page.split('\n');
  for (const edit of edits.toSorted((a, b) => b.first - a.first))
    lines.splice(edit.first, edit.count, ...edit.lines);
  return lines.join('\n');
}

/**
 * The text after the changes of a `diff` block: its lines begin with a space (stays), `+` or `-`; a line `@@` separates places.
 * Pure.
 * @throws Error when a place is not there exactly once.
 */
export function patched(text: string, diff: readonly string[]): string {
  return hunksOf(diff).reduce((before, hunk) => {
    const found = `\n${textOf(hunk.filter((line) => !line.startsWith('+')))}`;
    const wanted = `\n${textOf(hunk.filter((line) => !line.startsWith('-')))}`;
    const whole = `\n${before}`;
    const at = whole.indexOf(found);
    if (at < 0 || at !== whole.lastIndexOf(found))
      throw new Error(`Expected these lines exactly once:${found}in:${whole}`);
    return (whole.slice(0, at) + wanted + whole.slice(at + found.length)).slice(1);
  }, text);
}

function hunksOf(diff: readonly string[]): readonly (readonly string[])[] {
  const hunks: string[][] = [[]];
  for (const line of diff) {
    if (line.startsWith('@@')) hunks.push([]);
    else hunks.at(-1)?.push(line);
  }
  return hunks.filter((hunk) => hunk.length > 0);
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line.slice(1)}\n`).join('');
}
