import type {
  AcceptedWarning,
  Diagnostic,
  LocatedDefinition,
  ServedKind,
} from '../definition/index.ts';
import { createPlans, needsFinalizer } from './analysis/child-plans.ts';
import { createDependencyFinder } from './analysis/dependencies.ts';
import { orderChildren } from './analysis/order.ts';
import { createReportingPlan } from './analysis/reporting-plan.ts';
import { traceSecrets } from './analysis/secret-flow.ts';
import { allChecks } from './checks/all-checks.ts';
import { compileDefinition } from './compiled-templates.ts';
import type { CoverageRecorder } from './coverage.ts';
import { createDiagnostics } from './diagnostics.ts';
import type { LeafParser } from './language/index.ts';
import type { ChildPlan, OperatorPlan } from './operator-plan.ts';
import { createEvaluationPlan, type EvaluationPlan } from './phase/evaluation-plan.ts';
import { startPhase, startReport } from './phase/phase.ts';
import { createDefaultLeafParser } from './plain-expressions.ts';
import { createKindTypes, type SchemaSource } from './schema-source.ts';
import { examplesOf } from './template/example.ts';
import { fileOf } from './template/render-error.ts';
import { templateUses } from './template-uses.ts';

export interface CompileResult {
  /** Undefined when there are errors. */
  readonly plan?: OperatorPlan;
  /** All diagnostics by position, without warnings that the definition accepts, at most 100. */
  readonly diagnostics: readonly Diagnostic[];
  /** The warnings that the definition accepts, with those that are used. */
  readonly accepted: readonly AcceptedWarning[];
}

/**
 * Compiles a definition to a plan, or reports all errors. Pure: equal input gives an equal plan, and no state is kept
 * between calls. Does not throw for user errors.
 * @param schemas of children and reads. Unknown kinds are not checked; without `schemas` all kinds are unknown.
 * @param coverage records what evaluations of the plan reach, which makes them slower.
 * @param parser parses expressions that several definitions have once. @default a parser for this definition
 */
export function compile(
  located: LocatedDefinition,
  schemas?: SchemaSource,
  coverage?: CoverageRecorder,
  parser: LeafParser = createDefaultLeafParser(),
): CompileResult {
  const { definition, document, source } = located;
  const diagnostics = createDiagnostics(source);
  const types = createKindTypes(definition, schemas);
  const parts = compileDefinition({ located, types, parser, diagnostics, coverage });
  const uses = createDependencyFinder(parts);
  const scope = scopeOf(definition.kind, schemas);
  const templates = templateUses(parts);
  const context = {
    definition,
    document,
    parts,
    templates,
    uses,
    types,
    scope,
    schemas,
    diagnostics,
  };
  for (const check of allChecks) check(context);
  const tiers = orderChildren(parts, diagnostics);
  const { diagnostics: found, accepted } = diagnostics.finish(located.acceptedWarnings ?? []);
  if (found.some(({ severity }) => severity === 'error')) return { diagnostics: found, accepted };
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
      return fileOf(source);
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
    exampleManifests: () =>
      parts.children.map(({ definition: { id }, template }) => ({
        child: id,
        examples: examplesOf(template),
      })),
    startPhase: (input) => startPhase(evaluation(), input),
  };
  return { plan: Object.freeze(plan), diagnostics: found, accepted };
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
