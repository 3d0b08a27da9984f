import type { LocatedDefinition } from '../../definition/index.ts';
import type { DefinitionOrigin } from '../wanted-definition.ts';

/**
 * What is known of a definition beside its text: what users ask for on its object, and what is on record of it. CONTRACT between the
 * registry and those who know it (mirrors, ControllerRevisions).
 */
export interface KnownDefinition {
  readonly name: string;
  /** Where its text stood when it last ran: that one keeps the name. @default undefined: nobody knows */
  readonly origin?: DefinitionOrigin;
  /** The revisions that were accepted, newest first: the first one ran last. @default none */
  readonly formerly?: readonly LocatedDefinition[];
  /** The revision whose deletions a user has approved. @default undefined: none */
  readonly approvedDeletions?: string;
  /** @default false */
  readonly isPaused?: boolean;
}

/** By the name of the definition. Asked at every change of a text, and whenever the registry is told that it has changed; must be quick. */
export type KnownDefinitions = () => ReadonlyMap<string, KnownDefinition>;
