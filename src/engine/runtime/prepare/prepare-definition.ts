import { diagnosticText } from '#check';
import { compile, type KindSchema, type SchemaSource } from '#compile';
import {
  childKindsOf,
  type Diagnostic,
  definesCrd,
  type LocatedDefinition,
  localKindsOf,
  type OperatorDefinition,
  usedKindsOf,
} from '#definition';
import type { BackoffOptions } from '#util/backoff.ts';
import { type GroupKind, type Gvk, gvkKey } from '#util/gvk.ts';
import { acquireCrd, type CrdListener } from '../crd/crd-definition.ts';
import { installCrd } from '../crd/install-crd.ts';
import type { Rejection } from '../desired-definition.ts';
import type { SharedOptions } from '../runner-options.ts';
import { servedKinds } from '../served-kinds.ts';
import type { PreparedRevision } from './prepared-revision.ts';

/** Result of a preparation; a rejection is not an error. */
export type Preparation =
  | { readonly kind: 'prepared'; readonly prepared: PreparedRevision }
  | {
      readonly kind: 'rejected';
      readonly rejection: Rejection;
      /** Until it is prepared again. @default those after other failures */
      readonly delays?: BackoffOptions;
    };

type CompileOptionName = 'cluster' | 'coverage' | 'ownSchema';

export interface PrepareOptions
  extends CrdListener,
    Pick<
      SharedOptions,
      | 'clock'
      | 'allowBreakingChanges'
      | 'runtime'
      | 'hub'
      | 'conversion'
      | 'namespace'
      | CompileOptionName
    > {
  /** Called with the current step. `changesVersions`: of its kind. */
  readonly onStep: (message: string, changesVersions?: true) => void;
  /** Called with what breaks when a breaking change of the CRD was installed, as allowed. */
  readonly onBreakingChange: (broken: readonly Diagnostic[]) => void;
  /** Kinds of its recorded children; may include those of this revision. */
  readonly childKinds: () => readonly GroupKind[];
}

/**
 * Prepares a revision: schemas, plan, CRD. Writes only the CRD.
 * @throws KubeError when a request fails.
 */
export async function prepareDefinition(
  located: LocatedDefinition,
  options: PrepareOptions,
  signal: AbortSignal,
): Promise<Preparation> {
  const { cluster, onStep } = options;
  const { definition, source } = located;
  // Its CRD is listed while the schemas are fetched.
  const crd = definesCrd(definition)
    ? acquireCrd(cluster, definition.kind.crd.metadata.name)
    : undefined;
  try {
    onStep('Fetching the schemas of the kinds that it uses');
    const compiled = await compileFor(located, options, signal);
    if (compiled.kind === 'rejected') return compiled;
    // Compiling takes time: do not install the CRD of a superseded revision.
    signal.throwIfAborted();
    if (definesCrd(definition)) {
      onStep('Installing its CustomResourceDefinition');
      const obstacle = await installCrd(
        { ...options, definition, source, onStep: (message) => onStep(message, true) },
        signal,
      );
      if (obstacle !== undefined) {
        const { message, diagnostics, delays } = obstacle;
        return { ...rejected(definition, message, diagnostics), ...(delays && { delays }) };
      }
    }
    const previousKinds = await servedKinds(options.childKinds(), cluster, signal);
    const { plan, unknownKinds } = compiled;
    return { kind: 'prepared', prepared: { located, plan, unknownKinds, previousKinds } };
  } finally {
    crd?.release();
  }
}

/**
 * Prepares an older revision for resources that have it, or because the newer one is rejected. Does not change the CRD or delete previous
 * children.
 * @throws KubeError when a request fails.
 */
export async function preparePrevious(
  located: LocatedDefinition,
  options: Pick<PrepareOptions, CompileOptionName>,
  signal: AbortSignal,
): Promise<PreparedRevision | undefined> {
  const compiled = await compileFor(located, options, signal);
  if (compiled.kind === 'rejected') return undefined;
  const { gvk } = located.definition.kind;
  if ((await options.cluster.lookUp(gvk, signal)) === undefined) return undefined;
  const { plan, unknownKinds } = compiled;
  return { located, plan, unknownKinds, previousKinds: [] };
}

/**
 * Compiles a definition with the schemas that the API server publishes.
 * @throws KubeError when a request fails.
 */
export async function compileFor(
  located: LocatedDefinition,
  options: Pick<PrepareOptions, CompileOptionName>,
  signal: AbortSignal,
) {
  const { cluster, coverage } = options;
  const { definition } = located;
  const schemas = await fetchSchemas(definition, options, signal);
  const { plan, diagnostics } = compile(located, schemas, coverage);
  if (plan === undefined)
    return rejected(
      definition,
      'The definition does not match the schemas of the API server',
      diagnostics,
    );
  // A kind that is only used in member clusters need not be served here.
  const unknownKinds = usedKindsOf(definition, { isHere: true }).filter(
    (gvk) => cluster.resourceFor(gvk) === undefined,
  );
  if (isUndocumented(definition, schemas)) unknownKinds.push(definition.kind.gvk);
  return { kind: 'compiled', plan, unknownKinds } as const;
}

function isUndocumented({ kind }: OperatorDefinition, schemas: SchemaSource): boolean {
  return kind.source === 'for' && schemas.schemaFor(kind.gvk) === undefined;
}

function rejected(
  { revision }: OperatorDefinition,
  message: string,
  diagnostics: readonly Diagnostic[],
) {
  const rejection = { revision, message, diagnostics: diagnostics.map(diagnosticText) };
  return { kind: 'rejected', rejection } as const;
}

/**
 * Fetches the schemas of all kinds that a definition uses, because compile is pure. Unknown kinds are omitted.
 * @throws KubeError when a request fails.
 */
export async function fetchSchemas(
  definition: OperatorDefinition,
  { cluster, ownSchema }: Pick<PrepareOptions, CompileOptionName>,
  signal: AbortSignal,
): Promise<SchemaSource> {
  const schemas = new Map<string, KindSchema>();
  const { kind } = definition;
  // Objects of the definition itself are checked with it, and managed apart from its resources.
  const own = (definition.install ?? []).map(({ gvk }) => gvk);
  const used = [...(kind.source === 'for' ? [kind.gvk] : []), ...usedKindsOf(definition), ...own];
  const distinct = new Map(used.map((gvk) => [gvkKey(gvk), gvk]));
  const fetchOne = async (key: string, gvk: Gvk) => {
    const [published] = await Promise.all([
      cluster.fetchKindSchema(gvk, signal),
      cluster.lookUp(gvk, signal),
    ]);
    const schema = published ?? ownSchema?.(gvk);
    if (schema !== undefined) schemas.set(key, schema);
  };
  await Promise.all(Array.from(distinct, ([key, gvk]) => fetchOne(key, gvk)));
  return {
    schemaFor: (gvk: Gvk) => schemas.get(gvkKey(gvk)),
    isNamespaced: (gvk: Gvk) => cluster.resourceFor(gvk)?.namespaced,
  };
}

/** Kinds of children that older revisions create or that are recorded, and that this revision does not create. */
export function previousKindsOf(
  prepared: PreparedRevision,
  older: readonly PreparedRevision[],
): readonly Gvk[] {
  const { definition } = prepared.plan;
  const own = new Set(childKindsOf(definition).map(gvkKey));
  // A child that has moved to member clusters leaves objects of its kind here.
  const local = new Set(localKindsOf(definition).map(gvkKey));
  const former = [
    ...[prepared, ...older]
      .flatMap(({ previousKinds }) => previousKinds)
      .filter((gvk) => !own.has(gvkKey(gvk))),
    ...older
      .flatMap(({ plan }) => localKindsOf(plan.definition))
      .filter((gvk) => !local.has(gvkKey(gvk))),
  ];
  return [...new Map(former.map((gvk) => [gvkKey(gvk), gvk])).values()];
}
