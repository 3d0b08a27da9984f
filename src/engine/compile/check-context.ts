import type { OperatorDefinition } from '#definition';
import type { JsonObject } from '#util/json.ts';
import type { DependencyFinder } from './analysis/dependencies.ts';
import type { SecretFlow } from './analysis/secret-flow.ts';
import type { CompiledTemplates } from './compiled-templates.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { OperatorPlan } from './operator-plan.ts';
import type { KindTypes, SchemaSource } from './schema-source.ts';
import type { TemplateUse } from './template-uses.ts';

/** Input of the checks: a definition, its templates and their dependencies. */
export interface CheckContext {
  readonly definition: OperatorDefinition;
  /** The definition as it is written, with the parts that could not be read. */
  readonly document: JsonObject;
  readonly parts: CompiledTemplates;
  /** All templates of `parts`. */
  readonly templates: readonly TemplateUse[];
  readonly uses: DependencyFinder;
  readonly types: KindTypes;
  /** Scope of the resource; for a `for` kind it comes from the server. Undefined: unknown. */
  readonly scope: OperatorPlan['scope'];
  readonly schemas: SchemaSource | undefined;
  readonly diagnostics: Diagnostics;
}

/** Reports one class of errors. */
export type Check = (context: CheckContext) => void;

/** Input for the plan of a valid definition. */
export interface PlanContext extends CheckContext {
  readonly secrets: SecretFlow;
}
