import { diagnosticByPath, diagnosticLines, type ManifestCheck } from '#check';
import {
  createDefinitionParser,
  type DefinitionParser,
  isNestedTooDeep,
  type LocatedDefinition,
  maxNesting,
  printYaml,
  recordedSourceMap,
} from '#definition';
import { apiVersionOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { definitionGvk } from '../objects/names.ts';
import { parseManifest } from '../publish/parsed-manifest.ts';
import type { RecordedRevision } from '../recorded-state.ts';
import type { SourceManifest } from '../sources/definition-source.ts';
import { CurrentSource } from './current-source.ts';

/** Result of parsing an object's `spec`. */
export interface SpecResult {
  /** Undefined: it has errors. */
  readonly located?: LocatedDefinition;
  /** `operatordefinition name: path: message. Hint`, one each. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

interface KnownRevision {
  /** As it was parsed last. */
  readonly parsed: LocatedDefinition;
  readonly located: LocatedDefinition;
  readonly source: CurrentSource;
}

interface CachedSpec {
  readonly uid: string | undefined;
  readonly generation: unknown;
  readonly result: SpecResult;
}

/** Parses and compiles the `spec` of objects, again only after a change. */
export class SpecReader {
  readonly #check: ManifestCheck;
  /** Created when the first older revision is parsed: most runtimes never need it. */
  #parser: DefinitionParser | undefined;
  readonly #cache = new Map<string, CachedSpec>();
  /** By definition name and revision. */
  readonly #revisions = new Map<string, Map<string, KnownRevision | undefined>>();

  constructor(check: ManifestCheck) {
    this.#check = check;
  }

  /** Parses the current `spec`. */
  read(object: KubeObject): SpecResult {
    const { name, uid, generation } = object.metadata;
    const last = this.#cache.get(name);
    if (last !== undefined && last.uid === uid && last.generation === generation)
      return last.result;
    const parsed = this.#parse(object);
    const located = parsed.located && this.remember(name, parsed.located);
    const reading = { ...parsed, ...(located && { located }) };
    this.#cache.set(name, { uid, generation, result: reading });
    return reading;
  }

  /**
   * Call with a revision that this process has parsed: parsing it again takes 25 ms of CPU time at the start.
   * @returns the same with a source map that stays the same, and has the positions of the last call
   */
  remember(name: string, parsed: LocatedDefinition): LocatedDefinition {
    return keepRevision(this.#revisionsOf(name), parsed.definition.revision, parsed);
  }

  /** Parses a previously accepted revision. Undefined: this version of Homeostat cannot parse it. */
  revision(name: string, recorded: RecordedRevision): LocatedDefinition | undefined {
    const { revision, spec, places } = recorded;
    const revisions = this.#revisionsOf(name);
    if (revisions.has(revision)) return revisions.get(revision)?.located;
    const { file, text } = manifestOfObject({ name, spec });
    this.#parser ??= createDefinitionParser();
    const [parsed] = this.#parser.parse(text, `${file}, revision ${revision}`).definitions;
    if (parsed === undefined) {
      revisions.set(revision, undefined);
      return undefined;
    }
    const source = places && recordedSourceMap(spec, places);
    const located = source ? { ...parsed, source } : withoutLines(parsed);
    return keepRevision(revisions, revision, located);
  }

  forget(name: string): void {
    this.#cache.delete(name);
    this.#revisions.delete(name);
  }

  #revisionsOf(name: string): Map<string, KnownRevision | undefined> {
    const known = this.#revisions.get(name) ?? new Map<string, KnownRevision | undefined>();
    this.#revisions.set(name, known);
    return known;
  }

  #parse({ metadata: { name }, spec }: KubeObject): SpecResult {
    const { documents, diagnostics } = parseManifest(manifestOfObject({ name, spec }), this.#check);
    const parsed = documents[0]?.located;
    const located = parsed && withoutLines(parsed);
    return {
      ...(located && { located }),
      errors: diagnosticLines(diagnostics, 'error', diagnosticByPath),
      warnings: diagnosticLines(diagnostics, 'warning', diagnosticByPath),
    };
  }
}

function keepRevision(
  revisions: Map<string, KnownRevision | undefined>,
  revision: string,
  parsed: LocatedDefinition,
): LocatedDefinition {
  const known = revisions.get(revision);
  if (known?.parsed === parsed) return known.located;
  const source = known?.source ?? new CurrentSource(parsed.source);
  source.moveTo(parsed.source);
  const located = { ...parsed, source };
  revisions.set(revision, { parsed, located, source });
  return located;
}

function withoutLines(located: LocatedDefinition): LocatedDefinition {
  return { ...located, source: { ...located.source, isGenerated: true } };
}

/** The manifest of an object. Pure. */
export function manifestOfObject({
  name,
  spec,
}: {
  readonly name: string;
  readonly spec?: unknown;
}): SourceManifest {
  const written = {
    apiVersion: apiVersionOf(definitionGvk),
    kind: definitionGvk.kind,
    metadata: { name },
    ...(spec === undefined ? {} : { spec }),
  };
  const about = {
    file: `operatordefinition ${name}`,
    origin: { source: 'object', ref: name },
    sinceMs: 0,
  } as const;
  // The API server accepts deeper nesting than the YAML printer.
  if (!isNestedTooDeep(written)) return { ...about, text: printYaml(written) };
  const unreadable = `More than ${maxNesting} nested lists and maps`;
  return { ...about, text: '', unreadable };
}
