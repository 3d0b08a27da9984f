import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Crash, type Mark, parseCrashes, parseMarks } from './crash-history.ts';

/** The files of the black box, in a folder that outlives the process. All of it is synchronous: there may be no later. */
export interface BoxFiles {
  /** What processes left that have ended in the middle of their work; each is told once. */
  readonly left: readonly (readonly Mark[])[];
  readonly crashes: readonly Crash[];
  /** For whom this process works. */
  write(marks: readonly Mark[]): void;
  /** @throws Error of `node:fs` */
  store(crashes: readonly Crash[]): void;
  /** This process ends as it should. */
  end(): void;
}

const boxName = /^(\d+)\.box$/;
const working = '+';
const waiting = Buffer.from('-');

/**
 * Opens the folder, which is made where it is missing. Processes may share it: each has a box with its number.
 * @throws Error of `node:fs` where nothing can be written.
 */
export function openBox(folder: string, pid: number): BoxFiles {
  mkdirSync(folder, { recursive: true });
  const crashesFile = join(folder, 'crashes.json');
  const left = takeLeft(folder, pid);
  const file = join(folder, `${pid}.box`);
  const box = openSync(file, 'w');
  const texts = new WeakMap<Mark, Buffer>();
  let hasEnded = false;

  function textOf(marks: readonly Mark[]): Buffer {
    const [first] = marks;
    if (first === undefined) return waiting;
    if (marks.length > 1) return lineOf(marks);
    const text = texts.get(first) ?? lineOf(marks);
    texts.set(first, text);
    return text;
  }

  return {
    left,
    crashes: parseCrashes(textIn(crashesFile)),
    write(marks) {
      if (hasEnded) return;
      const text = textOf(marks);
      writeSync(box, text, 0, text.length, 0);
    },
    store(crashes) {
      const draft = `${crashesFile}.${pid}`;
      writeFileSync(draft, JSON.stringify(crashes));
      renameSync(draft, crashesFile);
    },
    end() {
      if (hasEnded) return;
      hasEnded = true;
      closeSync(box);
      rmSync(file, { force: true });
    },
  };
}

/** What is behind the line break is of an earlier, longer text. */
function lineOf(marks: readonly Mark[]): Buffer {
  return Buffer.from(`${working}${JSON.stringify(marks)}\n`);
}

function takeLeft(folder: string, pid: number): readonly (readonly Mark[])[] {
  return readdirSync(folder).flatMap((name) => {
    const owner = Number(boxName.exec(name)?.[1] ?? Number.NaN);
    // In a container every process has the same number: it is the one before.
    if (Number.isNaN(owner) || (owner !== pid && isAlive(owner))) return [];
    const file = join(folder, name);
    const [line = ''] = textIn(file).split('\n');
    rmSync(file, { force: true });
    const marks = line.startsWith(working) ? parseMarks(line.slice(1)) : [];
    return marks.length === 0 ? [] : [marks];
  });
}

function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // It is not there, or not ours to read: nothing is known then.
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
