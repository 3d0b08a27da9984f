import { dirname, resolve } from 'node:path';
import { fileReason } from '#files';
import type { Logger } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { Waker } from '#util/pause.ts';
import type { DefinitionSource, SourceListener, SourceManifest } from './definition-source.ts';
import {
  type FolderScan,
  isSameScan,
  type ScannedFile,
  scanFolder,
  watchFolders,
} from './folder-scan.ts';

interface DirectorySourceOptions {
  /** Path of a directory or file, as the user wrote it. */
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Files to ignore. @default none */
  readonly skips?: readonly string[];
}

/** Poll interval, for changes without events: targets of links, and some network file systems. Local system calls only. */
const pollMs = 5_000;
/** Poll interval after an error. */
const errorPollMs = 1_000;
/** Delay before a possibly partial file is scanned again. */
const partialWriteDelayMs = 400;
/** Delay between two scans that must be equal. */
const stableMs = 20;
/** A file that changes during this many scans is reported as unreadable. */
const maxScans = 8;

/**
 * Reads the definition files of a directory, or one file. Supports replaced files, swapped links and recreated directories; waits for files
 * that are being written.
 */
export function createDirectorySource(options: DirectorySourceOptions): DefinitionSource {
  return {
    name: `directory ${options.path}`,
    covers: ({ source, ref }) => source === 'directory' && isAt(ref, resolve(options.path)),
    run: (listener, signal) => new DirectorySource(options, listener).run(signal),
  };
}

/** Whether the path is the file, or directly in the directory. */
function isAt(file: string, path: string): boolean {
  return file === path || dirname(file) === path;
}

class DirectorySource {
  readonly #options: DirectorySourceOptions;
  readonly #listener: SourceListener;
  readonly #waker: Waker;
  /** When each file was first seen. */
  #sinceMs: ReadonlyMap<string, number> | undefined;
  #reported: FolderScan | undefined;
  #error: string | undefined;
  #watched: { readonly identity: string; readonly stop: () => void } | undefined;
  #cannotWatch = false;

  constructor(options: DirectorySourceOptions, listener: SourceListener) {
    this.#options = options;
    this.#listener = listener;
    this.#waker = new Waker(options.clock);
  }

  async run(signal: AbortSignal): Promise<void> {
    let isNotified = true;
    while (!signal.aborted) {
      await this.#scanAndReport(isNotified, signal).catch((error: unknown) => {
        this.#unwatch();
        if (!signal.aborted) this.#reportError(fileReason(error));
      });
      const isTroubled = this.#error !== undefined || this.#cannotWatch;
      isNotified = await this.#waker.pause(isTroubled ? errorPollMs : pollMs, signal);
    }
    this.#unwatch();
  }

  /** `isNotified`: a file was written, so fingerprints alone are not sufficient. */
  async #scanAndReport(isNotified: boolean, signal: AbortSignal): Promise<void> {
    const first = await this.#scan(isNotified ? undefined : this.#reported);
    // Watch before the next scan, so that no change is missed.
    this.#watch(first, isNotified);
    const hasChanged =
      this.#reported === undefined || isNotified || !isSameScan(first, this.#reported);
    if (!hasChanged && this.#error === undefined) return;
    const scan = await this.#scanUntilStable(first, signal);
    if (!signal.aborted) this.#report(scan);
  }

  #scan(known: FolderScan | undefined): Promise<FolderScan> {
    const { path, skips = [] } = this.#options;
    return scanFolder(path, { previous: known, skips: skips.map((each) => resolve(each)) });
  }

  /** Scans until two scans are equal. */
  async #scanUntilStable(first: FolderScan, signal: AbortSignal): Promise<FolderScan> {
    const { clock } = this.#options;
    let scan = first;
    for (let scans = 1; scans < maxScans; scans++) {
      await clock.sleep(this.#mayBePartial(scan) ? partialWriteDelayMs : stableMs, signal);
      const next = await this.#scan(scan);
      if (isSameScan(scan, next)) return next;
      scan = next;
    }
    const last = await this.#scan(scan);
    return { ...last, files: last.files.map((file) => rejectUnstable(file, scan)) };
  }

  /** A partially written file rarely ends with a newline; partial JSON is invalid anyway. */
  #mayBePartial({ files }: FolderScan): boolean {
    return files.some(
      ({ path, fingerprint, text, unreadable }) =>
        unreadable === undefined &&
        !text.endsWith('\n') &&
        !path.endsWith('.json') &&
        !this.#reported?.files.some(
          (reported) => reported.path === path && reported.fingerprint === fingerprint,
        ),
    );
  }

  #report(scan: FolderScan): void {
    const reported = this.#reported;
    const isOther = reported !== undefined && reported.identity !== scan.identity;
    if (isOther && scan.files.length === 0 && reported.files.length > 0) {
      // For example, an unmounted volume shows the empty directory below.
      this.#reportError('it was replaced by an empty directory');
      return;
    }
    this.#reportError(undefined);
    const sinceMs = this.#sinceMs;
    const nowMs = this.#options.clock.nowMs();
    this.#sinceMs = new Map(
      scan.files.map(({ path }) => [
        path,
        sinceMs === undefined ? 0 : (sinceMs.get(path) ?? nowMs),
      ]),
    );
    this.#reported = scan;
    this.#listener.onManifests(scan.files.map((file) => this.#manifestOf(file)));
  }

  #manifestOf({ path, text, unreadable }: ScannedFile): SourceManifest {
    return {
      file: path,
      text,
      origin: { source: 'directory', ref: resolve(path) },
      sinceMs: this.#sinceMs?.get(path) ?? 0,
      ...(unreadable === undefined ? {} : { unreadable }),
    };
  }

  #reportError(reason: string | undefined): void {
    if (reason === this.#error) return;
    this.#error = reason;
    const { path } = this.#options;
    this.#listener.onError(reason === undefined ? undefined : `Cannot read "${path}": ${reason}`);
  }

  /** Replaces the watch after every notification: a recreated directory may have the same inode, but its watch is dead. */
  #watch({ identity, folders }: FolderScan, isNotified: boolean): void {
    if (!isNotified && this.#watched?.identity === identity) return;
    this.#unwatch();
    const { clock, logger } = this.#options;
    const onFailure = (error: unknown) => {
      if (!this.#cannotWatch)
        logger.warn({ folders, reason: fileReason(error) }, 'Folder cannot be watched, polling it');
      this.#cannotWatch = true;
    };
    const onChange = () => this.#waker.wake();
    this.#watched = { identity, stop: watchFolders({ folders, clock, onChange, onFailure }) };
  }

  #unwatch(): void {
    this.#watched?.stop();
    this.#watched = undefined;
  }
}

/** Marks a file that has changed since `before` as unreadable. */
function rejectUnstable(file: ScannedFile, before: FolderScan): ScannedFile {
  const isCalm = before.files.some(
    ({ path, fingerprint }) => path === file.path && fingerprint === file.fingerprint,
  );
  return isCalm ? file : { ...file, text: '', unreadable: 'it is being written continuously' };
}
