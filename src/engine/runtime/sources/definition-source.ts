import type { DefinitionManifest } from '#check';
import { whenAborted } from '#util/when-aborted.ts';
import type { DefinitionOrigin } from '../desired-definition.ts';

/** A manifest of a source: a file, a key of a ConfigMap, or an object. */
export interface SourceManifest extends DefinitionManifest {
  /** Unique identity of the manifest: `ref` is unique across all sources. */
  readonly origin: DefinitionOrigin;
  /**
   * Age of the manifest: the oldest claim of a name wins. In ms since the epoch: creation of the ConfigMap or object, or when a file was
   * first seen; 0 for files that existed at startup.
   */
  readonly sinceMs: number;
  /**
   * Why an existing manifest cannot be read (`permission denied`, still being written); `text` is empty then. @default undefined: readable
   */
  readonly unreadable?: string;
}

/** Callbacks of a source. */
export interface SourceListener {
  /** Called with all current manifests; missing ones are removed. Never called with a partial list after a read error. */
  onManifests(manifests: readonly SourceManifest[]): void;
  /** Called when the source cannot be read; the last manifests stay valid. Undefined: readable again. */
  onError(error: string | undefined): void;
}

/** A source of manifests. */
export interface DefinitionSource {
  /** Whether a manifest of that origin belongs to this source. */
  covers(origin: DefinitionOrigin): boolean;
  /** Shown to users: `directory operators`, `ConfigMaps of homeostat-system`. Constant. */
  readonly name: string;
  /**
   * Reports all manifests, and again after each change, until the signal aborts. Reports manifests or an error after the first read.
   * Resolves when it has stopped. Never rejects. Called once.
   */
  run(listener: SourceListener, signal: AbortSignal): Promise<void>;
}

/** A source with one constant manifest, for standard input. */
export function createStaticSource({ file, text }: DefinitionManifest): DefinitionSource {
  const origin = { source: 'directory', ref: file } as const;
  return {
    name: file,
    covers: (other) => other.source === origin.source && other.ref === origin.ref,
    async run(listener, signal) {
      listener.onManifests([{ file, text, origin, sinceMs: 0 }]);
      await whenAborted(signal);
    },
  };
}
