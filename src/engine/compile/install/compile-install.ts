import {
  type Diagnostic,
  type Finding,
  type LocatedDefinition,
  maxInstalledObjects,
} from '#definition';
import { installNameOf, type OwnPart } from '#util/stored-names.ts';
import { createDependencyFinder } from '../analysis/dependencies.ts';
import { compileDefinition } from '../compiled-templates.ts';
import type { CoverageRecorder } from '../coverage.ts';
import { type Analysis, type AnalysisOptions, analyse, createPlan } from '../create-plan.ts';
import { createDiagnostics, type Diagnostics } from '../diagnostics.ts';
import type { ChildPlan, OperatorPlan } from '../operator-plan.ts';
import { createDefaultLeafParser } from '../plain-expressions.ts';
import { createKindTypes, type SchemaSource } from '../schema-source.ts';
import { templateUses } from '../template-uses.ts';
import { installDefinitionOf } from './install-definition.ts';
import { type InstallScope, scopeOfInstall } from './install-scope.ts';

/**
 * Compiles and checks the objects of `install`. Vars and reads that they use are compiled with them; their errors are reported with the
 * definition.
 */
export function analyseInstall(located: LocatedDefinition, options: AnalysisOptions): Analysis {
  const { schemas, parser, diagnostics } = options;
  const whole = installDefinitionOf(located);
  const parts = compileDefinition({
    located: whole,
    types: createKindTypes(whole.definition, schemas),
    parser,
    diagnostics: createDiagnostics(located.source),
    coverage: undefined,
  });
  const uses = createDependencyFinder(parts);
  const { children, onDelete } = located.definition;
  const ofResources = [...children, ...(onDelete?.children ?? [])];
  const childrenOfResources = new Set(ofResources.map(({ id }) => id));
  const templates = templateUses(parts);
  const scope = scopeOfInstall({ parts, templates, uses, schemas, childrenOfResources });
  for (const finding of scope.findings) diagnostics.report(finding);
  const own = installDefinitionOf(located, scope.used);
  return analyse(own, { ...options, diagnostics: onlyOfInstall(diagnostics, scope) });
}

/** The plan of the objects of `install`, and what is wrong with them. */
export interface InstallCompileResult {
  /** Undefined when there are errors. Of a definition without `install`, it desires nothing. */
  readonly plan?: OperatorPlan;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Compiles only the objects of `install`, for a definition that compiles as a whole: they do not depend on its kind, which may not be served.
 * Pure.
 * @param coverage See `compile`.
 */
export function compileInstall(
  located: LocatedDefinition,
  schemas: SchemaSource | undefined,
  coverage?: CoverageRecorder,
): InstallCompileResult {
  const diagnostics = createDiagnostics(located.source);
  const parser = createDefaultLeafParser();
  const analysis = analyseInstall(located, { schemas, parser, diagnostics, coverage });
  const { diagnostics: found } = diagnostics.finish(located.acceptedWarnings ?? []);
  if (found.some(({ severity }) => severity === 'error')) return { diagnostics: found };
  return { plan: createInstallPlan(analysis), diagnostics: found };
}

/** Without what the definition reports itself, and what follows from values that `install` cannot read. */
function onlyOfInstall(diagnostics: Diagnostics, { findings }: InstallScope): Diagnostics {
  const reported = new Set(findings.map(({ path }) => path));
  return {
    ...diagnostics,
    report(finding) {
      const isOwn = finding.path.startsWith('/spec/install/');
      if (isOwn && !reported.has(finding.path)) diagnostics.report(inItsWords(finding));
    },
  };
}

/** There is no `crossNamespace` to advise. */
function inItsWords(finding: Finding): Finding {
  const isNamespace = finding.path.endsWith('/template/metadata/namespace');
  if (finding.code !== 'missing-field' || !isNamespace) return finding;
  return {
    ...finding,
    message: 'An object of "install" must set a namespace, because its kind is namespaced',
    hint: 'Add "namespace" next to "name"',
  };
}

/**
 * The plan of the objects of `install`, or of the policies of `admission`. None of them has an owner reference: they must outlive the object of the definition, which
 * `kubectl replace --force` deletes and creates again.
 */
export function createInstallPlan(analysis: Analysis, part: OwnPart = 'install'): OperatorPlan {
  const plan = createPlan(analysis);
  const children = Object.freeze(plan.children.map(detached));
  const tiers = plan.tiers.map((tier) =>
    Object.freeze(children.filter(({ id }) => tier.some((each) => each.id === id))),
  );
  return Object.freeze({
    ...plan,
    file: plan.file,
    name: installNameOf(plan.name, part),
    children,
    tiers: Object.freeze(tiers),
    needsFinalizer: children.length > 0,
    maxObjects: maxInstalledObjects,
  });
}

function detached(child: ChildPlan): ChildPlan {
  return Object.freeze({ ...child, isDetached: true });
}
