import { dirname, resolve } from 'node:path';
import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { Bell } from './bell.ts';
import type { DefinitionSource, SourceListener, SourceText } from './definition-source.ts';
import { type FolderLook, type FoundFile, fileReason, isSameLook, lookAt } from './folder-look.ts';
import { watchFolders } from './folder-watch.ts';

export interface DirectorySourceOptions {
  /** Of a directory or of one file, as the user wrote it. */
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Files in it that are no definitions. @default none */
  readonly skips?: readonly string[];
}

/** Nobody tells of a link whose target changes, nor of anything on some network file systems. A few calls of the system, no request. */
const pollMs = 5_000;
/** While it cannot be read, or cannot be watched. */
const troubledPollMs = 1_000;
/** A file that may be half written is looked at again after this. */
const doubtMs = 400;
/** Between two looks that must show the same. */
const stableMs = 20;
/** A file that changes more often than this while it is read is told as one that cannot be. */
const mostLooks = 8;

/**
 * The definition files directly in a directory, or one file. Follows what editors and the kubelet do (files and links that are swapped,
 * directories that go and come back), and waits for files that are being written.
 */
export function createDirectorySource(options: DirectorySourceOptions): DefinitionSource {
  return {
    name: `directory ${options.path}`,
    covers: ({ source, ref }) => source === 'directory' && isAt(ref, resolve(options.path)),
    run: (listener, signal) => new DirectorySource(options, listener).run(signal),
  };
}

/** Is that the one file, or directly in the directory? */
function isAt(file: string, path: string): boolean {
  return file === path || dirname(file) === path;
}

class DirectorySource {
  readonly #options: DirectorySourceOptions;
  readonly #listener: SourceListener;
  readonly #bell = new Bell();
  /** When each file was seen first. */
  #sinceMs: ReadonlyMap<string, number> | undefined;
  #told: FolderLook | undefined;
  #trouble: string | undefined;
  #watched: { readonly identity: string; readonly stop: () => void } | undefined;
  #cannotWatch = false;

  constructor(options: DirectorySourceOptions, listener: SourceListener) {
    this.#options = options;
    this.#listener = listener;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let isRung = true;
    while (!signal.aborted) {
      await this.#look(isRung, signal).catch((error: unknown) => {
        this.#unwatch();
        if (!signal.aborted) this.#tellTrouble(fileReason(error));
      });
      const isTroubled = this.#trouble !== undefined || this.#cannotWatch;
      isRung = await this.#bell.wait(isTroubled ? troubledPollMs : pollMs, clock, signal);
    }
    this.#unwatch();
  }

  /** `isRung`: somebody has written, and marks alone are not to be trusted. */
  async #look(isRung: boolean, signal: AbortSignal): Promise<void> {
    const first = await this.#lookNow(isRung ? undefined : this.#told);
    // Before it is looked at again: nothing that happens from here on is missed.
    this.#watch(first, isRung);
    const isNews = this.#told === undefined || isRung || !isSameLook(first, this.#told);
    if (!isNews && this.#trouble === undefined) return;
    const look = await this.#untilStable(first, signal);
    if (!signal.aborted) this.#take(look);
  }

  #lookNow(known: FolderLook | undefined): Promise<FolderLook> {
    const { path, skips = [] } = this.#options;
    return lookAt(path, { known, skips: skips.map((each) => resolve(each)) });
  }

  /** Looks again until nothing has changed between two looks. */
  async #untilStable(first: FolderLook, signal: AbortSignal): Promise<FolderLook> {
    const { clock } = this.#options;
    let look = first;
    for (let looks = 1; looks < mostLooks; looks++) {
      await clock.sleep(this.#mayBeHalf(look) ? doubtMs : stableMs, signal);
      const next = await this.#lookNow(look);
      if (isSameLook(look, next)) return next;
      look = next;
    }
    const last = await this.#lookNow(look);
    return { ...last, files: last.files.map((file) => withoutHaste(file, look)) };
  }

  /** Somebody who writes in pieces rarely pauses at the end of a line; JSON that is cut is no JSON. */
  #mayBeHalf({ files }: FolderLook): boolean {
    return files.some(
      ({ path, mark, text, unreadable }) =>
        unreadable === undefined &&
        !text.endsWith('\n') &&
        !path.endsWith('.json') &&
        !this.#told?.files.some((told) => told.path === path && told.mark === mark),
    );
  }

  #take(look: FolderLook): void {
    const told = this.#told;
    const isOther = told !== undefined && told.identity !== look.identity;
    if (isOther && look.files.length === 0 && told.files.length > 0) {
      // What is mounted on it has gone, say, and shows the empty directory below.
      this.#tellTrouble('it is another directory now, and empty');
      return;
    }
    this.#tellTrouble(undefined);
    const sinceMs = this.#sinceMs;
    const nowMs = this.#options.clock.nowMs();
    this.#sinceMs = new Map(
      look.files.map(({ path }) => [
        path,
        sinceMs === undefined ? 0 : (sinceMs.get(path) ?? nowMs),
      ]),
    );
    this.#told = look;
    this.#listener.onTexts(look.files.map((file) => this.#textOf(file)));
  }

  #textOf({ path, text, unreadable }: FoundFile): SourceText {
    return {
      file: path,
      text,
      origin: { source: 'directory', ref: resolve(path) },
      sinceMs: this.#sinceMs?.get(path) ?? 0,
      ...(unreadable === undefined ? {} : { unreadable }),
    };
  }

  #tellTrouble(reason: string | undefined): void {
    if (reason === this.#trouble) return;
    this.#trouble = reason;
    const { path } = this.#options;
    this.#listener.onTrouble(reason === undefined ? undefined : `Cannot read "${path}": ${reason}`);
  }

  /** Anew after every ring: a directory that was removed and made again may be the same one by its inode, and its watch is dead. */
  #watch({ identity, folders }: FolderLook, isRung: boolean): void {
    if (!isRung && this.#watched?.identity === identity) return;
    this.#unwatch();
    const { clock, logger } = this.#options;
    const onFailure = (error: unknown) => {
      if (!this.#cannotWatch)
        logger.warn({ folders, reason: fileReason(error) }, 'Folder is not watched, it is polled');
      this.#cannotWatch = true;
    };
    const onChange = () => this.#bell.ring();
    this.#watched = { identity, stop: watchFolders({ folders, clock, onChange, onFailure }) };
  }

  #unwatch(): void {
    this.#watched?.stop();
    this.#watched = undefined;
  }
}

/** A file that has changed since `before` is not to be believed. */
function withoutHaste(file: FoundFile, before: FolderLook): FoundFile {
  const isCalm = before.files.some(({ path, mark }) => path === file.path && mark === file.mark);
  return isCalm ? file : { ...file, text: '', unreadable: 'It is being written all the time' };
}
