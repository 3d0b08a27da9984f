import type { Json } from '#util/json.ts';

/**
 * One thing that every server must do, as requests and what they answer. Texts may hold `$(name)`:
 * `ns` is a namespace of the case's own, `group` the group of the suite's CRDs, others were saved by
 * earlier steps.
 */
export interface ContractCase {
  /** What holds, as a sentence. */
  readonly name: string;
  /** The numbers of what it shows in `ranked/behaviours.ts`. */
  readonly ranked?: readonly number[];
  readonly steps: readonly ContractStep[];
}

export type ContractStep =
  | RequestStep
  | WatchStep
  | UntilStep
  | UntilAnswerStep
  | WebhookStep
  | PodsStep
  | EventsStep;

export interface RequestStep {
  readonly method: string;
  readonly path: string;
  /** An object is sent as JSON, a text as it is. */
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  readonly expect: Expectation;
  /** Names for parts of the answer: `{ rv: 'metadata.resourceVersion' }`. */
  readonly save?: Readonly<Record<string, string>>;
}

export interface Expectation {
  readonly status: number;
  /** Part of the body. Null = the field is null or absent. */
  readonly body?: Json;
  /** The place in each item of a list that says where it stands: names that are made up say nothing. */
  readonly inOrderOf?: readonly string[];
  /** Matches the message of a Status. */
  readonly message?: RegExp;
  /** Matches the header with the warnings. */
  readonly warning?: RegExp;
  /**
   * All that is in managedFields: paths by who owns them. `a` = applied by a, `a (Update)`, `a (Update of status)`.
   * A struct that is owned by itself ends with a slash: `.spec.map/`.
   */
  readonly owners?: Readonly<Record<string, readonly string[]>>;
  /** Texts that a server makes up, by dotted path: each is as it must be, and compared with none of another server. */
  readonly generated?: Readonly<Record<string, RegExp>>;
  /** Parts that chance decides, between two runs on one server too. They are not compared. Dotted paths. */
  readonly byChance?: readonly string[];
  /** Parts of the answer that differ between the servers, and why. Dotted paths; empty = the whole body, `warning` = the header. */
  readonly differs?: Readonly<Record<string, string>>;
}

/** Opens a watch, runs steps, reads so many events, closes it. */
export interface WatchStep {
  readonly watch: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly during?: readonly RequestStep[];
  /**
   * The number of events to read; `all` = until the server ends the watch. A bookmark that says what the one before it
   * said does not count: how many there are is the server's business.
   */
  readonly events: number | 'all';
  /** Parts of the events, in order. */
  readonly expect: readonly Json[];
  /** @default 200 */
  readonly status?: number;
  /** Names for parts of the events: `{ rv: '0.object.metadata.resourceVersion' }`. */
  readonly save?: RequestStep['save'];
}

/** Asks until the answer is as expected: controllers of a real server take their time. */
export interface UntilStep {
  readonly until: string;
  readonly expect: Expectation;
}

/** Sends a request until the answer is as expected: policies are in effect some time after they were written. It changes nothing. */
export interface UntilAnswerStep {
  readonly untilAnswer: RequestStep;
}

/** Stops the conversion webhook of the suite (`$(webhook)`), or starts it again on its port. */
export interface WebhookStep {
  readonly webhook: 'stops' | 'starts';
}

/**
 * Plays the kubelet, of which neither server has one: waits until exactly so many pods are in need of it, and writes
 * their status.
 */
export interface PodsStep {
  /** A label selector. */
  readonly pods: string;
  readonly count: number;
  readonly become: PodFate;
}

/** Pods that are to run are those that do not yet; pods that are to end, those that have not. */
export type PodFate = 'running' | 'succeeded' | 'failed';

/** Waits until exactly these events of an object exist. */
export interface EventsStep {
  readonly events: { readonly kind: string; readonly name: string };
  /** Type, reason and message, in any order; one that is reported several times is there so often. */
  readonly expect: readonly string[];
}
