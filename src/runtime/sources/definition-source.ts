/**
 * Where texts of definitions come from. CONTRACT between sources, which know files and ConfigMaps, and the registry, which knows
 * definitions (definition.md section 9).
 */
import type { DefinitionText } from '../definition-text.ts';
import type { DefinitionOrigin, RemovalTerms } from '../wanted-definition.ts';

/** One text of a source: a file, a key of a ConfigMap, an object. */
export interface SourceText extends DefinitionText {
  /** Names the text for as long as it exists: two texts of all sources never have the same `ref`. */
  readonly origin: DefinitionOrigin;
  /**
   * Of two texts that want the same the older one has it. In ms since the epoch: when the ConfigMap or the object was made, when a file
   * was first seen; 0 for a file that was there before this process.
   */
  readonly sinceMs: number;
  /**
   * It is there, and cannot be read just now (`permission denied`, still being written): nothing is known of what stands in it, and
   * `text` is empty. @default undefined: `text` is all of it
   */
  readonly unreadable?: string;
  /** A user deletes the object, and it waits for us: what is to go before. @default undefined */
  readonly removal?: RemovalTerms;
}

/** Whom a source tells. */
export interface SourceListener {
  /**
   * All texts of the source, as they are now: what is not among them is gone. Never called with less because something could not be
   * read.
   */
  onTexts(texts: readonly SourceText[]): void;
  /** Why the source cannot be read, for people: what it told last stays true. Undefined: it can be again. */
  onTrouble(trouble: string | undefined): void;
}

/** A place where texts of definitions are found and followed. */
export interface DefinitionSource {
  /** Would it tell of a text that stands there, if there were one? */
  covers(origin: DefinitionOrigin): boolean;
  /** For people: `directory operators`, `ConfigMaps of homeostat-system`. Constant. */
  readonly name: string;
  /**
   * Tells all texts, and again whenever one has changed, until the signal aborts; resolves when nothing of it is left running. As soon as
   * it has looked for the first time it has told texts or a trouble. Never rejects. Called once.
   */
  run(listener: SourceListener, signal: AbortSignal): Promise<void>;
}
