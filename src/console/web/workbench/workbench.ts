import type { DiagnosticView, ManifestText, PreviewView } from '../contract.ts';

/** A file that is edited beside the pages. */
export interface WorkbenchFile extends ManifestText {
  /** The text that runs in the sandbox; undefined: none. */
  readonly applied: string | undefined;
}

/** Something that can be opened: its definitions and samples. */
export interface Example {
  readonly group: 'operators' | 'recipes';
  /** `web-app`. */
  readonly name: string;
  readonly title: string;
  readonly files: readonly ManifestText[];
}

/** The result of an apply. */
export interface Applied {
  /** One sentence each. */
  readonly done: readonly string[];
  /** Why something is not applied. */
  readonly problems: readonly string[];
}

/** What the files pane shows. Replaced as a whole when something changes. */
export interface WorkbenchState {
  /** What is open: `web-app`, or `a shared link`. */
  readonly title: string;
  readonly files: readonly WorkbenchFile[];
  /** Counts what was opened or reset: editors begin again. */
  readonly opened: number;
  /** Counts what was applied: checks are asked again. */
  readonly applies: number;
  readonly isApplying: boolean;
  readonly applied: Applied | undefined;
  /** The worker does not respond: it computes, perhaps forever. */
  readonly isBusy: boolean;
  /** Why there is no sandbox, or why a link was not opened. */
  readonly problem: { readonly title: string; readonly text: string } | undefined;
}

/** A home whose definitions and samples are edited beside the pages. Contract between web and playground. */
export interface Workbench {
  readonly state: WorkbenchState;
  /** Replaces the text of a file; it does not run yet. */
  edit(file: string, text: string): void;
  /** Runs the files as they are. */
  apply(): Promise<void>;
  /** The files as they were opened, in a new sandbox. */
  reset(): void;
  /** A new sandbox without anything in it; the files stay as they are edited. */
  stop(): void;
  /** @throws Error when they cannot be loaded */
  examples(): Promise<readonly Example[]>;
  open(example: Example): void;
  /** The address of this page with the files as they are edited. @throws Error when it would be too long */
  shareLink(): Promise<string>;
  /** Diagnostics of a file, and what it would change. @throws BackendError */
  check(file: ManifestText, signal: AbortSignal): Promise<FileCheck>;
}

export interface FileCheck {
  readonly diagnostics: readonly DiagnosticView[];
  /** Undefined: the file has errors, is applied as it is, or nothing runs. */
  readonly preview: PreviewView | undefined;
}
