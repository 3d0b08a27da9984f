import type { ConsoleBackend, ConsoleInfo, ResourceRef } from './contract.ts';
import type { Route } from './route.ts';
import type { ConsoleStore } from './store/console-store.ts';
import type { Workbench } from './workbench/workbench.ts';

export type Theme = 'system' | 'light' | 'dark';

/** What the user has set, beside the address. */
export interface UiState {
  readonly search: string;
  readonly theme: Theme;
  readonly isHelpOpen: boolean;
  /** An action that waits for a confirmation. */
  readonly question: Question | undefined;
  /** The result of the last action. */
  readonly notice: Notice | undefined;
  /** Whether long lists of children are shown in full. */
  readonly isUnfolded: boolean;
  /** Id of the Secret whose values are shown. */
  readonly revealed: string | undefined;
}

export interface Question {
  readonly title: string;
  readonly text: string;
  /** Label of the button. */
  readonly action: string;
  readonly run: () => Promise<string>;
}

export interface Notice {
  readonly isError: boolean;
  readonly text: string;
}

/** What a page can start. */
export interface Actions {
  set(change: Partial<UiState>): void;
  go(route: Route): void;
  /** Runs an action and shows its result: the message that it returns, or its error. */
  run(action: () => Promise<string>): void;
  /** Asks first. */
  ask(question: Question): void;
}

/** All that a page is a function of. */
export interface View {
  readonly route: Route;
  readonly store: Pick<
    ConsoleStore,
    | 'info'
    | 'error'
    | 'kinds'
    | 'list'
    | 'isChanged'
    | 'detail'
    | 'records'
    | 'queues'
    | 'summaryOf'
    | 'kindOf'
  >;
  /** For editors, which ask while the user types. */
  readonly backend: ConsoleBackend;
  readonly info: ConsoleInfo;
  /** Files that are edited beside the pages. Undefined: none are. */
  readonly workbench?: Workbench;
  readonly ui: UiState;
  readonly actions: Actions;
  readonly nowMs: number;
  /** Whether the window is too narrow for graphs beside each other. */
  readonly isNarrow: boolean;
}

/** A view of the page of one resource. */
export interface ResourcePageView extends View {
  readonly route: Extract<Route, { page: 'resource' }>;
}

/** A view of the page of one definition. */
export interface DefinitionPageView extends View {
  readonly route: Extract<Route, { page: 'definition' }>;
}

/** The key of a detail of a resource. */
export function detailKey(what: string, ...parts: readonly (ResourceRef | string)[]): string {
  return `${what} ${JSON.stringify(parts)}`;
}
