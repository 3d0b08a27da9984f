import { setTimeout as delay } from 'node:timers/promises';
import { patienceMs } from '../patience.ts';
import { isShown, masked, shortened } from './masks.ts';
import { type Block, type Command, commandsOf, type Edit, patched, type Section } from './page.ts';
import type { RunningCommand, Terminal } from './terminal.ts';
import { untilTaken } from './until-taken.ts';

export interface PageRunnerOptions {
  readonly terminal: Terminal;
  /** Where outputs differ, the page is to be written anew: wait for outputs that stay, not for those that the page shows. @default false */
  readonly isRewriting?: boolean;
}

/** A difference between a page and what its commands print. */
export interface Difference {
  readonly command: string;
  readonly shown: readonly string[];
  readonly output: readonly string[];
  /** The page with what was printed. */
  readonly edit: Edit;
}

/** Commands that only look: they are repeated until the harness is as the page shows it. */
const looks = /^(?:homeostat|kubectl) (?:get|describe|tree|events)\b/;
/** Commands that read files alone. */
const offline = /^homeostat (?:validate|rights|import)\b/;
const betweenLooksMs = 250;
/** For how long an output must stay the same to be written into a page. */
const quietMs = 1_500;

/** Does what a page asks its reader to do, block by block; README.md of this folder has the convention. */
export class PageRunner {
  readonly #terminal: Terminal;
  readonly #isRewriting: boolean;
  readonly #files = new Map<string, string>();
  /** Files that a running `homeostat dev` may not have read yet. */
  readonly #saved = new Map<string, string>();
  /** A file as it was before the mistake that the page shows. */
  #undo: (() => void) | undefined;
  #running: RunningCommand | undefined;
  /** How many lines of the running command the page has shown. */
  #seen = 0;

  constructor({ terminal, isRewriting = false }: PageRunnerOptions) {
    this.#terminal = terminal;
    this.#isRewriting = isRewriting;
  }

  /** The text of a file as the page has made it. */
  textOf(path: string): string {
    const text = this.#files.get(path);
    if (text === undefined) throw new Error(`The page has no file "${path}"`);
    return text;
  }

  /** Writes the files of a section, and runs none of its commands. */
  prepare({ blocks }: Section): void {
    for (const block of blocks) if (!block.words.includes('mistake')) this.#writeFile(block);
  }

  /** Does all of a section. @throws Error when a command ends otherwise than the page says. */
  async run({ blocks }: Section): Promise<readonly Difference[]> {
    const differences: Difference[] = [];
    for (const block of blocks) {
      if (block.language !== 'console') this.#writeFile(block);
      else if (block.words.includes('terminal=1')) differences.push(...(await this.#follow(block)));
      else {
        for (const command of commandsOf(block))
          differences.push(...(await this.#run(command, block.words.includes('fails'))));
        this.#undo?.();
        this.#undo = undefined;
      }
    }
    return differences;
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
  }

  #writeFile({ language, words, lines }: Block): void {
    const [path] = words;
    if (path === undefined || language === 'console') return;
    const before = this.#files.get(path);
    const text = language === 'diff' ? patched(before ?? '', lines) : `${lines.join('\n')}\n`;
    this.#save(path, text);
    if (!words.includes('mistake')) this.#files.set(path, text);
    else if (before !== undefined) this.#undo = () => this.#save(path, before);
  }

  #save(path: string, text: string): void {
    this.#terminal.save(path, text);
    this.#saved.set(path, text);
  }

  /** Waits until what was saved last runs. */
  async #untilTaken(): Promise<void> {
    for (const [path, text] of this.#saved) await untilTaken(this.#terminal.folder, path, text);
    this.#saved.clear();
  }

  async #run(command: Command, fails: boolean): Promise<readonly Difference[]> {
    const { text, output: shown, first } = command;
    if (!offline.test(text)) await this.#untilTaken();
    const { code, lines } = looks.test(text)
      ? await this.#look(command, fails)
      : await this.#once(text);
    if ((code !== 0) !== fails)
      throw new Error(`"${text}" ended with exit code ${code}:\n${lines.join('\n')}`);
    if (isShown(shown, lines)) return [];
    const output = shortened(shown, lines);
    return [{ command: text, shown, output, edit: { first, count: shown.length, lines: output } }];
  }

  #once(text: string) {
    return this.#terminal.run(text);
  }

  /** Repeats a command until it prints what the page shows; when rewriting, until it prints the same for a while. */
  async #look({ text, output }: Command, fails: boolean) {
    const startMs = performance.now();
    let last = await this.#once(text);
    let sinceMs = performance.now();
    const isDone = () =>
      ((last.code !== 0) === fails &&
        (isShown(output, last.lines) ||
          (this.#isRewriting && performance.now() - sinceMs > quietMs))) ||
      performance.now() - startMs > patienceMs;
    while (!isDone()) {
      await delay(betweenLooksMs);
      const next = await this.#once(text);
      if (next.lines.map(masked).join('\n') !== last.lines.map(masked).join('\n'))
        sinceMs = performance.now();
      last = next;
    }
    return last;
  }

  /** The first terminal: a command starts there and runs on; a block without a command shows what it prints next. */
  async #follow(block: Block): Promise<readonly Difference[]> {
    const [command] = commandsOf(block);
    if (command !== undefined) {
      await this.#running?.stop();
      this.#running = this.#terminal.start(command.text);
      this.#seen = 0;
    }
    const { output: shown, first } = command ?? { output: block.lines, first: block.first };
    const missing = await this.#untilPrinted(shown);
    if (missing.length === 0) return [];
    const lines = this.#running?.lines().slice(this.#seen) ?? [];
    this.#seen += lines.length;
    const edit = { first, count: shown.length, lines };
    const title = `terminal 1 (without: ${missing.join('; ')})`;
    return [{ command: title, shown, output: lines, edit }];
  }

  /** Waits for lines in any order, as several things happen at once. What is printed besides does not matter. */
  async #untilPrinted(shown: readonly string[]): Promise<readonly string[]> {
    const wanted = shown.filter((line) => line !== '' && line !== '...').map(masked);
    const limitMs = performance.now() + (this.#isRewriting ? 10_000 : patienceMs);
    for (;;) {
      const lines = (this.#running?.lines() ?? []).slice(this.#seen).map(masked);
      const missing = wanted.filter((line) => !lines.includes(line));
      if (missing.length === 0) {
        this.#seen += Math.max(0, ...wanted.map((line) => lines.indexOf(line) + 1));
        return [];
      }
      if (performance.now() > limitMs) return missing;
      await delay(20);
    }
  }
}
