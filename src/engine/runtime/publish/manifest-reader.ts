import { diagnosticLines, type ManifestCheck } from '#check';
import type { Logger } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { messageOf } from '#util/homeostat-error.ts';
import { pause } from '#util/pause.ts';
import { orAborted } from '#util/when-aborted.ts';
import {
  configMapKeyOf,
  type DefinitionOrigin,
  isSameOrigin,
  originText,
} from '../desired-definition.ts';
import type { DefinitionSource, SourceManifest } from '../sources/definition-source.ts';
import { type NamedDocument, type ParsedManifest, parseManifest } from './parsed-manifest.ts';
import type { OriginState } from './publish-plan.ts';

interface ManifestReaderOptions {
  /** On a name conflict, earlier sources win. */
  readonly sources: readonly DefinitionSource[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly check: ManifestCheck;
  /** Called after all sources have been read, and after each change. Must not throw. */
  readonly onManifests: (manifests: Manifests) => void;
}

/** State of a source. */
export interface SourceState {
  readonly name: string;
  /** Whether it has been read since the cluster runtime started. */
  readonly isRead: boolean;
  /** Why it cannot be read. Undefined: no error. */
  readonly error?: string;
}

/** All manifests of all sources at one time. */
export interface Manifests {
  readonly parsed: readonly ParsedManifest[];
  /** By name, in the order of the sources. */
  readonly claims: ReadonlyMap<string, readonly NamedDocument[]>;
  /** Why sources cannot be read now. */
  readonly sourceErrors: readonly string[];
  originState(origin: DefinitionOrigin): OriginState;
  /** Why the source of an origin cannot be read now. Undefined: it can. */
  sourceError(origin: DefinitionOrigin): string | undefined;
  /** Errors because of which a definition that was published from an origin may still be there, one line each. */
  obstacles(origin: DefinitionOrigin): readonly string[];
}

/** Changes within this time are handled together. */
const batchMs = 50;
/** Time slice for checks, so that Lease renewals and probes are not delayed. */
const sliceMs = 20;
/** After this time, a source that has not been read is ignored until it is. */
const firstReadTimeoutMs = 30_000;

interface FollowedSource {
  readonly source: DefinitionSource;
  /** Undefined: not read yet. */
  manifests: readonly SourceManifest[] | undefined;
  error: string | undefined;
  /** Whether it has had a manifest since the cluster runtime started. */
  hadManifests: boolean;
}

/** Parses the manifests of all sources. A manifest is parsed and compiled again only after a change. */
export class ManifestReader {
  readonly #options: ManifestReaderOptions;
  readonly #followed: readonly FollowedSource[];
  #parsed: ReadonlyMap<string, ParsedManifest> = new Map();
  #waitsForAll = true;
  /** Resolves when a source has changed since the last read started. */
  #changed = Promise.withResolvers<void>();

  constructor(options: ManifestReaderOptions) {
    this.#options = options;
    this.#followed = options.sources.map((source) => ({
      source,
      manifests: undefined,
      error: undefined,
      hadManifests: false,
    }));
  }

  /** In the order of the sources. */
  get sources(): readonly SourceState[] {
    return this.#followed.map(({ source: { name }, manifests, error }) => ({
      name,
      isRead: manifests !== undefined,
      ...(error === undefined ? {} : { error }),
    }));
  }

  /** Watches the sources until the signal aborts. Never rejects. Called once. */
  async run(signal: AbortSignal): Promise<void> {
    const cancelPatience = this.#options.clock.after(firstReadTimeoutMs, () => {
      this.#waitsForAll = false;
      this.#changed.resolve();
    });
    this.#changed.resolve();
    const sources = this.#followed.map((followed) => this.#follow(followed, signal));
    await Promise.all([this.#readChanges(signal), ...sources]);
    cancelPatience();
  }

  #follow(followed: FollowedSource, signal: AbortSignal): Promise<void> {
    return followed.source.run(
      {
        onManifests: (manifests) => {
          followed.manifests = manifests;
          followed.hadManifests ||= manifests.length > 0;
          this.#changed.resolve();
        },
        onError: (error) => {
          this.#logError(followed, error);
          followed.error = error;
          this.#changed.resolve();
        },
      },
      signal,
    );
  }

  #logError({ source: { name }, error: before }: FollowedSource, error: string | undefined): void {
    const { logger } = this.#options;
    if (error === before) return;
    if (error === undefined) logger.info({ source: name }, 'Definitions can be read again');
    else {
      const message = 'Definitions cannot be read, the last ones stay active';
      logger.warn({ source: name, reason: error }, message);
    }
  }

  /** Reads all manifests when every source has reported, and after changes, with a delay that batches them. Never rejects. */
  async #readChanges(signal: AbortSignal): Promise<void> {
    let delayMs = 0;
    while (!signal.aborted) {
      await orAborted(this.#changed.promise, signal).catch(() => {});
      await pause(this.#options.clock, delayMs, signal);
      // Changes during the checks belong to the next read.
      this.#changed = Promise.withResolvers();
      const isSilent = ({ manifests, error }: FollowedSource) =>
        manifests === undefined && error === undefined;
      if (this.#waitsForAll && this.#followed.some(isSilent)) continue;
      delayMs = batchMs;
      await this.#readAll(signal);
    }
  }

  /** Never rejects. */
  async #readAll(signal: AbortSignal): Promise<void> {
    const sources = this.#followed.map((followed) => ({ ...followed }));
    const parsed = await this.#parseAll(sources, signal).catch(() => undefined);
    if (parsed === undefined || signal.aborted) return;
    this.#parsed = parsed;
    this.#options.onManifests(manifestsOf([...parsed.values()], sources));
  }

  /** @throws the signal's reason */
  async #parseAll(
    sources: readonly FollowedSource[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, ParsedManifest>> {
    const { clock } = this.#options;
    const parsed = new Map<string, ParsedManifest>();
    let sinceMs = clock.monotonicMs();
    for (const [index, { manifests = [] }] of sources.entries())
      for (const text of manifests) {
        if (clock.monotonicMs() - sinceMs > sliceMs) {
          await clock.sleep(0, signal);
          sinceMs = clock.monotonicMs();
        }
        const key = `${index} ${text.origin.ref}`;
        parsed.set(key, this.#parse(text, this.#parsed.get(key)));
      }
    return parsed;
  }

  #parse(text: SourceManifest, before: ParsedManifest | undefined): ParsedManifest {
    if (before !== undefined && deepEqual(before.manifest, text)) return before;
    const { check, logger } = this.#options;
    try {
      return parseManifest(text, check);
    } catch (err) {
      // A bug in Homeostat must not stop the other definitions.
      logger.error({ err, file: text.file }, 'Definitions cannot be checked');
      const reason = messageOf(err);
      return parseManifest(
        { ...text, unreadable: `Homeostat failed to parse it: ${reason}` },
        check,
      );
    }
  }
}

function manifestsOf(
  all: readonly ParsedManifest[],
  followed: readonly FollowedSource[],
): Manifests {
  const documents = all.flatMap((parsed) => parsed.documents);
  const sourceOf = (origin: DefinitionOrigin) =>
    followed.find(({ source }) => source.covers(origin));
  return {
    parsed: all,
    claims: Map.groupBy(documents, ({ name }) => name),
    sourceErrors: followed.flatMap(({ error }) => error ?? []),
    sourceError: (origin) => sourceOf(origin)?.error,
    obstacles(origin) {
      const followedOne = sourceOf(origin);
      if (followedOne?.manifests === undefined) return [];
      if (origin.source === 'directory' && !followedOne.hadManifests)
        return [`${followedOne.source.name} is empty since the start; is its volume mounted?`];
      const invalid = all.filter(
        ({ manifest, isValid }) =>
          !isValid &&
          followedOne.source.covers(manifest.origin) &&
          isSameContainer(manifest.origin, origin),
      );
      return obstaclesIn(invalid, origin);
    },
    originState(origin) {
      const followedOne = sourceOf(origin);
      if (followedOne === undefined) return 'elsewhere';
      const { source, manifests, error, hadManifests } = followedOne;
      if (manifests === undefined || error !== undefined) return 'unknown';
      // A missing mount may show an empty directory.
      if (origin.source === 'directory' && !hadManifests) return 'unknown';
      const isThere = ({ manifest }: ParsedManifest) =>
        source.covers(manifest.origin) && isSameContainer(manifest.origin, origin);
      return all.every((parsed) => !isThere(parsed) || parsed.isValid) ? 'read' : 'unknown';
    },
  };
}

/** Errors of the manifest itself; if it no longer exists, those of others that may contain its definition. */
function obstaclesIn(
  invalid: readonly ParsedManifest[],
  origin: DefinitionOrigin,
): readonly string[] {
  const own = invalid.find(({ manifest }) => isSameOrigin(manifest.origin, origin));
  if (own !== undefined) return own.otherErrors.length > 0 ? own.otherErrors : errorsOf(own);
  const others = invalid.flatMap(errorsOf);
  if (others.length === 0) return [];
  return [
    `It is no longer in ${originText(origin)}, and may be in a manifest with errors:`,
    ...others,
  ];
}

function errorsOf({ diagnostics }: ParsedManifest): readonly string[] {
  return diagnosticLines(diagnostics, 'error');
}

/** Whether both origins are in one ConfigMap or one directory. */
function isSameContainer(a: DefinitionOrigin, b: DefinitionOrigin): boolean {
  const place = configMapKeyOf(a);
  const other = configMapKeyOf(b);
  return place?.namespace === other?.namespace && place?.name === other?.name;
}
