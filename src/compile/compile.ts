import {
  type Diagnostic,
  type LocatedDefinition,
  parseYaml,
  printYaml,
  type ServedKind,
} from '../definition/index.ts';
import { isJsonObject } from '../util/json.ts';
import type { KubeObject } from '../util/kube-object.ts';
import { readinessOf } from '../util/readiness/readiness-of.ts';
import { createPlans } from './analysis/child-plans.ts';
import { isFinalizing } from './analysis/detached.ts';
import { observersFirst } from './analysis/observers-first.ts';
import { orderChildren } from './analysis/order.ts';
import { createReportingPlan } from './analysis/reporting-plan.ts';
import { followSecrets } from './analysis/secret-flow.ts';
import { createUsesFinder } from './analysis/uses.ts';
import { checkForEach } from './checks/check-for-each.ts';
import { checkNames } from './checks/check-names.ts';
import { checkOnDelete } from './checks/check-on-delete.ts';
import { checkPaths } from './checks/check-paths.ts';
import { checkReadScope } from './checks/check-read-scope.ts';
import { checkReportSources } from './checks/check-report-sources.ts';
import { checkScope } from './checks/check-scope.ts';
import { checkSelectors } from './checks/check-selectors.ts';
import { checkSources, warnAboutWhen } from './checks/check-sources.ts';
import { checkStatus } from './checks/check-status.ts';
import { warnAboutKinds } from './checks/warn-about-kinds.ts';
import { warnAboutNames } from './checks/warn-about-names.ts';
import { warnAboutPrevious } from './checks/warn-about-previous.ts';
import { warnAboutSecrets } from './checks/warn-about-secrets.ts';
import { warnAboutZeros } from './checks/warn-about-zeros.ts';
import { compileParts } from './definition-parts.ts';
import { createDiagnostics } from './diagnostics.ts';
import { createKindTypes } from './kind-types.ts';
import { createLeafParser, type LeafParser } from './language/index.ts';
import type { ChildPlan, OperatorPlan } from './operator-plan.ts';
import { startPhase, startReport } from './phase/phase.ts';
import { createPlanParts } from './phase/plan-parts.ts';
import type { SchemaSource } from './schema-source.ts';

export interface CompileOptions {
  /** Schemas of children and reads. Kinds that it does not know, all of them without it, are not checked. */
  readonly schemas?: SchemaSource;
  /**
   * How long this thread has worked, in ms since whenever: bounds the searches of an evaluation, so that a busy machine makes
   * no sound expression fail. @default the clock
   */
  readonly workedMs?: () => number;
}

export interface CompileResult {
  /** Undefined when there are errors. */
  readonly plan?: OperatorPlan;
  /** All that was found, by position; at most 100. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Compiles a definition to the plan that passes render with, or tells all that is wrong with it. Pure: the same input gives
 * an equal plan; nothing is kept between calls. Does not throw for a user's mistake.
 */
export function compile(located: LocatedDefinition, options: CompileOptions = {}): CompileResult {
  const { definition, source } = located;
  const { schemas } = options;
  const diagnostics = createDiagnostics(source);
  const types = createKindTypes(definition, schemas);
  const parts = compileParts({ located, types, parser: createParser(options), diagnostics });
  const uses = createUsesFinder(parts);
  checkNames(parts, diagnostics);
  checkPaths({ parts, resource: types.resource, diagnostics });
  checkSources({ parts, uses, diagnostics });
  checkReportSources({ parts, uses, diagnostics });
  checkStatus(definition, types, diagnostics);
  checkForEach({ parts, uses, diagnostics });
  checkSelectors(parts, diagnostics);
  const scope = scopeOf(definition.kind, schemas);
  checkScope({ parts, scope, schemas, diagnostics });
  checkReadScope({ parts, scope, schemas, diagnostics });
  checkOnDelete({ parts, uses, diagnostics });
  warnAboutWhen({ parts, uses, diagnostics });
  warnAboutZeros(parts, diagnostics);
  warnAboutNames(parts, diagnostics);
  warnAboutPrevious(parts, diagnostics);
  warnAboutKinds({ parts, definition, schemas, diagnostics });
  warnAboutSecrets({ parts, uses, kind: definition.kind.gvk, diagnostics });
  const tiers = orderChildren(parts, diagnostics);
  const found = diagnostics.finish();
  if (found.some(({ severity }) => severity === 'error')) return { diagnostics: found };
  const secrets = followSecrets({ parts, uses, kind: definition.kind.gvk });
  const { onDeleteChildren, ...summary } = createPlans({
    parts,
    uses,
    secrets,
    definition,
    scope,
    source,
  });
  const shared = createPlanParts({
    definition,
    parts,
    uses,
    secrets,
    observed: summary.observed,
  });
  const reporting = createReportingPlan({
    parts,
    uses,
    secrets,
    scope,
    source,
    startPhase: (input) => startReport(shared, input),
  });
  const plan: OperatorPlan = {
    name: definition.name,
    revision: definition.revision,
    definition,
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
    isFinalizing: isFinalizing({ definition, scope }),
    ...(reporting && { reporting }),
    startPhase: (input) => startPhase(shared, input),
  };
  return { plan: Object.freeze(plan), diagnostics: found };
}

function scopeOf(kind: ServedKind, schemas: SchemaSource | undefined): OperatorPlan['scope'] {
  if (kind.source === 'crd') return kind.scope;
  const isNamespaced = schemas?.isNamespaced(kind.gvk);
  if (isNamespaced === undefined) return undefined;
  return isNamespaced ? 'Namespaced' : 'Cluster';
}

function createParser({ workedMs }: CompileOptions): LeafParser {
  const tools = { parseYaml, printYaml, isReady };
  return createLeafParser({ ...tools, ...(workedMs && { workedMs }) });
}

function isReady(object: Readonly<Record<string, unknown>>): boolean {
  if (typeof object.apiVersion !== 'string' || !isJsonObject(object.metadata)) return false;
  return readinessOf(object as KubeObject).state === 'Ready';
}

/** The children of one stage in the order of application. */
function tiersOf(
  tiers: readonly (readonly string[])[],
  children: readonly ChildPlan[],
): OperatorPlan['tiers'] {
  const ofStage = tiers.map((ids) => children.filter(({ id }) => ids.includes(id)));
  return Object.freeze(
    observersFirst(ofStage.filter(({ length }) => length > 0)).map((tier) => Object.freeze(tier)),
  );
}
