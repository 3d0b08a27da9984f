/**
 * What is to run, as the sources of definitions say it. CONTRACT between the registry, which reads sources, and the manager, which runs
 * definitions (definition.md section 9).
 */
import type { LocatedDefinition } from '../definition/index.ts';
import type { JsonObject } from '../util/json.ts';
import type { RefusedFile } from './refused-file.ts';

/** Where the text of a definition stands. */
export interface DefinitionOrigin {
  readonly source: 'configmap' | 'directory' | 'object';
  /** For people and for the annotation `homeostat.dev/source-ref`: `namespace/name/key` of a ConfigMap, a path, the name of an object. */
  readonly ref: string;
}

/** Why a text was not taken. */
export interface Refusal {
  /** Of the text that was refused, where so much could be read of it. */
  readonly revision?: string;
  readonly message: string;
  /** `file:line:column: message. Hint`, one each. */
  readonly diagnostics: readonly string[];
}

/** What goes with a definition that a user deletes: what its newest text says. */
export interface RemovalTerms {
  /** The children of all its resources (`removalPolicy: Delete`). */
  readonly children: boolean;
  /** Its CRD, and with it the resources (`crdPolicy.deletion: Delete`). */
  readonly crd: boolean;
}

/** A definition that is to run. */
export interface WantedDefinition {
  /** The newest text without a mistake: the last good one while what was written after it is refused. */
  readonly located: LocatedDefinition;
  /** @default undefined: nobody says (a test, a benchmark) */
  readonly origin?: DefinitionOrigin;
  /** The newest text has mistakes, and `located` is an older one. @default undefined */
  readonly refusal?: Refusal;
  /** What is to be said of the newest text though it is taken: `file:line:column: message. Hint`, one each. @default none */
  readonly warnings?: readonly string[];
  /**
   * What was accepted before, in this process or an earlier one (from its ControllerRevisions), newest first; `located` may be among them:
   * what is left where the cluster refuses that, and what resources that carry its revision keep until the roll-out reaches them. @default none
   */
  readonly formerly?: readonly LocatedDefinition[];
  /** The revision whose deletions a user has approved (`homeostat.dev/approve-deletions`). @default undefined: none */
  readonly approvedDeletions?: string;
  /** Not worked on, deletions neither (`homeostat.dev/paused: "true"` on the definition). @default false */
  readonly isPaused?: boolean;
  /**
   * A user deletes the object that is its source, and it carries our finalizer: what is to go before the object may (`removalOf` of
   * `removal/` says so). It stays in the set until the object is gone, and is not run but removed; `located` may be a draft then.
   * @default undefined
   */
  readonly removal?: RemovalTerms;
}

/** A text that is refused, or one document of it, or a syntax error in it: for whoever tells of it (`objects/`). */
export interface RefusedText {
  readonly origin: DefinitionOrigin;
  /** The name that is written in it. @default undefined: none can be read */
  readonly name?: string;
  /** The document as it was written. @default undefined: it cannot be read */
  readonly document?: JsonObject;
  readonly refusal: Refusal;
}

/** All definitions of one moment. */
export interface WantedSet {
  readonly definitions: readonly WantedDefinition[];
  /** Texts with mistakes, to be told of. @default none */
  readonly refused?: readonly RefusedFile[];
  /** Everything that is refused now, also where an older text goes on or the name belongs to another text. @default none */
  readonly refusedTexts?: readonly RefusedText[];
  /** Objects that users delete, that wait for us, and of which nothing runs: they may go, by name. @default none */
  readonly lettingGo?: readonly string[];
  /** Definitions with mistakes and no older text that had none: what is being deleted of theirs is brought to its end. @default none */
  readonly broken?: readonly LocatedDefinition[];
}
