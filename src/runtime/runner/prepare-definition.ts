import { compile, type OperatorPlan, type SchemaSource } from '../../compile/index.ts';
import type { Diagnostic, LocatedDefinition, OperatorDefinition } from '../../definition/index.ts';
import type { GroupKind, Gvk } from '../../util/gvk.ts';
import { bringsCrd, childKindsOf, installCrd } from '../crd/index.ts';
import { diagnosticText } from '../refused-file.ts';
import type { SharedOptions } from '../runner-options.ts';
import type { Refusal } from '../wanted-definition.ts';
import { fetchSchemas } from './cluster-schemas.ts';
import { workedMs } from './worked-ms.ts';

/** A revision that can be run here and now. */
export interface Prepared {
  readonly located: LocatedDefinition;
  readonly plan: OperatorPlan;
  /** Kinds of children and reads that the server does not serve, and the definition's own while nothing documents it. */
  readonly unknownKinds: readonly Gvk[];
  /** Kinds that it has had children of: what is left of them goes. */
  readonly formerKinds: readonly Gvk[];
}

/** A decision, not a failure. */
export type Preparation =
  | { readonly kind: 'prepared'; readonly prepared: Prepared }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export interface PrepareOptions extends Pick<SharedOptions, 'cluster' | 'clock' | 'breaksStored'> {
  /** Told what it is at. */
  readonly onStep: (message: string) => void;
  /** It is known whether the definition may have its CRD. */
  readonly onCrdDecided: () => void;
  /** Older texts of it: where it brings no CRD, only they tell of which kinds it had children. @default none */
  readonly formerly?: readonly LocatedDefinition[];
}

/**
 * Makes a revision ready to run: schemas, plan, CRD. Touches nothing but the CRD.
 * @throws KubeError when the server refuses or cannot be asked.
 */
export async function prepareDefinition(
  located: LocatedDefinition,
  options: PrepareOptions,
  signal: AbortSignal,
): Promise<Preparation> {
  const { cluster, clock, onStep, onCrdDecided, formerly = [] } = options;
  const { definition } = located;
  onStep('The schemas of the kinds that it uses are asked for');
  const compiled = await compileFor(located, options, signal);
  if (compiled.kind === 'refused') return compiled;
  const { plan, unknownKinds } = compiled;
  let former: readonly GroupKind[] = formerly.flatMap((each) => childKindsOf(each.definition));
  // Compiling takes a while, and what is not wanted any more is not to touch the CRD.
  signal.throwIfAborted();
  if (bringsCrd(definition)) {
    onStep('Its CustomResourceDefinition is being installed');
    const installed = await installCrd(
      {
        definition,
        cluster,
        clock,
        source: located.source,
        ...(options.breaksStored && { breaksStored: true }),
      },
      signal,
    );
    onCrdDecided();
    if (installed.kind === 'refused')
      return refused(definition, installed.message, installed.diagnostics);
    former = installed.formerKinds;
  }
  const formerKinds: Gvk[] = [];
  for (const kind of former) {
    const type = await cluster.findKind(kind, signal);
    if (type !== undefined) formerKinds.push(type.gvk);
  }
  return { kind: 'prepared', prepared: { located, plan, unknownKinds, formerKinds } };
}

/**
 * Makes an older revision ready, for what still has it or where the newer one is refused: the CRD stays as it is, and nothing goes that
 * only this revision would not make.
 * @throws KubeError when the server cannot be asked.
 */
export async function prepareFormer(
  located: LocatedDefinition,
  options: Pick<PrepareOptions, 'cluster'>,
  signal: AbortSignal,
): Promise<Prepared | undefined> {
  const compiled = await compileFor(located, options, signal);
  if (compiled.kind === 'refused') return undefined;
  const { gvk } = located.definition.kind;
  if ((await options.cluster.lookUp(gvk, signal)) === undefined) return undefined;
  const { plan, unknownKinds } = compiled;
  return { located, plan, unknownKinds, formerKinds: [] };
}

async function compileFor(
  located: LocatedDefinition,
  { cluster }: Pick<PrepareOptions, 'cluster'>,
  signal: AbortSignal,
) {
  const { definition } = located;
  const schemas = await fetchSchemas(definition, cluster, signal);
  const { plan, diagnostics } = compile(located, { schemas, workedMs });
  if (plan === undefined) return refused(definition, 'The server has other schemas', diagnostics);
  const { kind, children, reads } = definition;
  const unknownKinds = [...children, ...reads]
    .map(({ gvk }) => gvk)
    .filter((gvk) => cluster.resourceFor(gvk) === undefined);
  if (isUndocumented(definition, schemas)) unknownKinds.push(kind.gvk);
  return { kind: 'compiled', plan, unknownKinds } as const;
}

function isUndocumented({ kind }: OperatorDefinition, schemas: SchemaSource): boolean {
  return kind.source === 'for' && schemas.schemaFor(kind.gvk) === undefined;
}

function refused(
  { revision }: OperatorDefinition,
  message: string,
  diagnostics: readonly Diagnostic[],
) {
  const refusal = { revision, message, diagnostics: diagnostics.map(diagnosticText) };
  return { kind: 'refused', refusal } as const;
}
