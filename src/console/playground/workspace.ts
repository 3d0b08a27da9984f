import { messageOf } from '#util/homeostat-error.ts';
import { BackendError, type ManifestText } from '#web';
import type {
  Example,
  FileCheck,
  Workbench,
  WorkbenchFile,
  WorkbenchState,
} from '#web/browser/index.ts';
import type { ApplyReport } from './messages.ts';
import { decodeShareLink, encodeShareLink, isShareLink, ShareLinkError } from './share-link.ts';
import type { WorkerBackend } from './worker-backend.ts';

export interface WorkspaceOptions {
  readonly backend: Pick<WorkerBackend, 'ask' | 'restart' | 'isBusy'>;
  /** Address of the page without its fragment. */
  readonly address: string;
  /** @throws Error when they cannot be loaded */
  readonly loadExamples: () => Promise<readonly Example[]>;
  /** The example that is opened without a link. */
  readonly firstExample: string;
  readonly onChange: () => void;
  /** The sandbox is empty again: what the pages know of it is out of date. */
  readonly onRestart: () => void;
  /** What was opened runs for the first time. */
  readonly onOpened: (report: ApplyReport) => void;
}

const empty: WorkbenchState = {
  title: '',
  files: [],
  opened: 0,
  applies: 0,
  isApplying: false,
  applied: undefined,
  isBusy: false,
  problem: undefined,
};

/** Definitions and samples that are edited in the page, and applied to the sandbox of its worker. */
export class Workspace implements Workbench {
  readonly #options: WorkspaceOptions;
  #state: WorkbenchState = empty;
  /** The files as they were opened. */
  #original: readonly ManifestText[] = [];
  #examples: Promise<readonly Example[]> | undefined;
  /** Ends what was asked of an earlier sandbox. */
  #sandbox = new AbortController();
  #isFresh = true;

  constructor(options: WorkspaceOptions) {
    this.#options = options;
  }

  get state(): WorkbenchState {
    return this.#state;
  }

  /** Whether a file is not as it was opened: only this page has its text. */
  get hasEdits(): boolean {
    return this.#state.files.some(({ file, text }) => textIn(this.#original, file) !== text);
  }

  /** Opens the files of a link, or the first example. A broken link is reported beside the example. */
  async start(fragment: string): Promise<void> {
    if (isShareLink(fragment)) {
      try {
        return this.#open('a shared link', await decodeShareLink(fragment));
      } catch (error) {
        if (!(error instanceof ShareLinkError)) throw error;
        this.#set({ problem: { title: 'The link cannot be opened', text: error.message } });
      }
    }
    try {
      const examples = await this.examples();
      const first = examples.find(({ name }) => name === this.#options.firstExample);
      const { problem } = this.#state;
      if (first !== undefined) this.#open(first.name, first.files, problem);
    } catch (error) {
      this.#set({ problem: { title: 'The examples cannot be loaded', text: messageOf(error) } });
    }
  }

  edit(file: string, text: string): void {
    this.#set({
      files: this.#state.files.map((each) => (each.file === file ? { ...each, text } : each)),
    });
  }

  async apply(): Promise<void> {
    const { files, isApplying } = this.#state;
    if (isApplying) return;
    const { signal } = this.#sandbox;
    this.#set({ isApplying: true, applied: undefined });
    try {
      const body = { files: files.map(({ file, text }) => ({ file, text })) };
      const report = await this.#options.backend.ask<ApplyReport>('apply', body, signal);
      if (signal.aborted) return;
      this.#set({
        files: this.#state.files.map((each) => ({ ...each, applied: textIn(files, each.file) })),
        applies: this.#state.applies + 1,
        isApplying: false,
        applied: report,
      });
      if (this.#isFresh) this.#options.onOpened(report);
      this.#isFresh = false;
    } catch (error) {
      if (!signal.aborted)
        this.#set({ isApplying: false, applied: { done: [], problems: [messageOf(error)] } });
    }
  }

  reset(): void {
    this.#restart();
    this.#open(this.#state.title, this.#original);
  }

  stop(): void {
    this.#restart();
    const files = this.#state.files.map((each) => ({ ...each, applied: undefined }));
    this.#set({ files, applies: this.#state.applies + 1 });
  }

  examples(): Promise<readonly Example[]> {
    this.#examples ??= this.#options.loadExamples();
    this.#examples.catch(() => {
      this.#examples = undefined;
    });
    return this.#examples;
  }

  open({ name, files }: Example): void {
    this.#restart();
    this.#open(name, files);
  }

  async shareLink(): Promise<string> {
    return this.#options.address + (await encodeShareLink(this.#state.files));
  }

  check({ file, text }: ManifestText, signal: AbortSignal): Promise<FileCheck> {
    return this.#options.backend.ask('check-file', { file, text }, signal);
  }

  /** The backend is busy, or not any more. */
  busyChanged(): void {
    this.#set({ isBusy: this.#options.backend.isBusy });
  }

  /** There is no sandbox. */
  failed(message: string): void {
    this.#set({ isApplying: false, problem: { title: 'The sandbox has failed', text: message } });
  }

  #open(title: string, files: readonly ManifestText[], problem?: WorkbenchState['problem']): void {
    this.#original = files;
    this.#set({
      title,
      problem,
      opened: this.#state.opened + 1,
      files: files.map(({ file, text }): WorkbenchFile => ({ file, text, applied: undefined })),
    });
    void this.apply();
  }

  #restart(): void {
    this.#sandbox.abort(new BackendError('unreachable', 'The sandbox was ended'));
    this.#sandbox = new AbortController();
    this.#options.backend.restart();
    this.#isFresh = true;
    this.#set({ isApplying: false, applied: undefined, problem: undefined });
    this.#options.onRestart();
  }

  #set(change: Partial<WorkbenchState>): void {
    this.#state = { ...this.#state, ...change };
    this.#options.onChange();
  }
}

function textIn(files: readonly ManifestText[], file: string): string | undefined {
  return files.find((each) => each.file === file)?.text;
}
