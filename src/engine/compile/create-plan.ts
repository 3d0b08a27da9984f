import type { LocatedDefinition, ServedKind } from '#definition';
import { createPlans, needsFinalizer } from './analysis/child-plans.ts';
import { createDependencyFinder } from './analysis/dependencies.ts';
import { orderChildren } from './analysis/order.ts';
import { createReportingPlan } from './analysis/reporting-plan.ts';
import { traceSecrets } from './analysis/secret-flow.ts';
import type { CheckContext } from './check-context.ts';
import { allChecks } from './checks/all-checks.ts';
import { compileDefinition } from './compiled-templates.ts';
import type { CoverageRecorder } from './coverage.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { LeafParser } from './language/index.ts';
import type { ChildPlan, OperatorPlan } from './operator-plan.ts';
import { createEvaluationPlan, type EvaluationPlan } from './phase/evaluation-plan.ts';
import { startPhase, startReport } from './phase/phase.ts';
import { createKindTypes, type SchemaSource } from './schema-source.ts';
import { examplesOf } from './template/example.ts';
import { fileOf } from './template/render-error.ts';
import { templateUses } from './template-uses.ts';

export interface AnalysisOptions {
  readonly schemas: SchemaSource | undefined;
  readonly coverage: CoverageRecorder | undefined;
  readonly parser: LeafParser;
  /** Gets all errors and warnings. */
  readonly diagnostics: Diagnostics;
}

/** A definition with its compiled templates, checked. */
export interface Analysis extends CheckContext {
  /** Ids of the children, see {@link OperatorPlan.tiers}. */
  readonly tiers: readonly (readonly string[])[];
}

/** Compiles all templates of a definition, reports all errors, and orders the children. */
export function analyse(
  { definition, document, ...located }: LocatedDefinition,
  { schemas, coverage, parser, diagnostics }: AnalysisOptions,
): Analysis {
  const types = createKindTypes(definition, schemas);
  const parts = compileDefinition({
    located: { definition, document, ...located },
    types,
    parser,
    diagnostics,
    coverage,
  });
  const context = {
    definition,
    document,
    parts,
    templates: templateUses(parts),
    uses: createDependencyFinder(parts),
    types,
    scope: scopeOf(definition.kind, schemas),
    schemas,
    diagnostics,
  };
  for (const check of allChecks) check(context);
  return { ...context, tiers: orderChildren(parts, diagnostics) };
}

/** The plans of what belongs to a definition itself. Undefined: it has none. */
interface OwnPlans {
  readonly install?: OperatorPlan | undefined;
  readonly admission?: OperatorPlan | undefined;
}

/** The plan of a definition without errors. */
export function createPlan(
  { tiers, ...context }: Analysis,
  { install, admission }: OwnPlans = {},
): OperatorPlan {
  const { definition, parts, types, scope, schemas, diagnostics } = context;
  const secrets = traceSecrets(context, { into: 'messages' });
  const planned = { ...context, secrets };
  const { onDeleteChildren, ...summary } = createPlans(planned);
  // `validate` evaluates nothing.
  let evaluationPlan: EvaluationPlan | undefined;
  const evaluation = () => {
    evaluationPlan ??= createEvaluationPlan(planned, summary.observed);
    return evaluationPlan;
  };
  const reporting =
    definition.reporting &&
    createReportingPlan(planned, (input) => startReport(evaluation(), input));
  const plan: OperatorPlan = {
    name: definition.name,
    revision: definition.revision,
    definition,
    get file() {
      return fileOf(diagnostics.source);
    },
    scope,
    resourceType: types.resource,
    secrecy: secrets.resource,
    ...summary,
    tiers: tiersOf(tiers, summary.children),
    ...(definition.onDelete && {
      onDelete: Object.freeze({
        ...definition.onDelete,
        children: onDeleteChildren,
        tiers: tiersOf(tiers, onDeleteChildren),
      }),
    }),
    needsFinalizer: needsFinalizer({ definition, scope, schemas }),
    ...(reporting && { reporting }),
    ...(install && { install }),
    ...(admission && { admission }),
    exampleManifests: () =>
      parts.objects.map(({ definition: { id }, template }) => ({
        child: id,
        examples: examplesOf(template),
      })),
    startPhase: (input) => startPhase(evaluation(), input),
  };
  return Object.freeze(plan);
}

function scopeOf(kind: ServedKind, schemas: SchemaSource | undefined): OperatorPlan['scope'] {
  if (kind.source === 'crd') return kind.scope;
  const isNamespaced = schemas?.isNamespaced(kind.gvk);
  if (isNamespaced === undefined) return undefined;
  return isNamespaced ? 'Namespaced' : 'Cluster';
}

/** The given children in tiers, in the order of application. */
function tiersOf(
  tiers: readonly (readonly string[])[],
  children: readonly ChildPlan[],
): OperatorPlan['tiers'] {
  const ofStage = tiers.map((ids) => children.filter(({ id }) => ids.includes(id)));
  return Object.freeze(
    selfObserversFirst(ofStage.filter(({ length }) => length > 0)).map((tier) =>
      Object.freeze(tier),
    ),
  );
}

/**
 * Within a tier, children that observe themselves come before children that observe them. An existing object (such as
 * a Secret that lost its labels) is then found before others are rendered from it. `observed` itself implies no
 * order.
 */
function selfObserversFirst(
  tiers: readonly (readonly ChildPlan[])[],
): readonly (readonly ChildPlan[])[] {
  return tiers.flatMap((tier) => {
    const first = tier.filter(observesItself);
    const rest = tier.filter((child) => !first.includes(child));
    const isSeen = rest.some(({ childrenObserved }) =>
      first.some(({ id }) => childrenObserved.includes(id)),
    );
    return isSeen ? [first, rest] : [tier];
  });
}

function observesItself({ id, childrenObserved }: ChildPlan): boolean {
  return childrenObserved.includes(id);
}
