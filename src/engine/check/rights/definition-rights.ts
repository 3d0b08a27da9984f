import type { OperatorPlan } from '#compile';
import { isPlaced, placesInMembers, runsInMembers } from '#definition';
import { apiVersionOf, type Gvk } from '#util/gvk.ts';
import {
  type AccessRule,
  createPluralOf,
  type KnownPlurals,
  type MergedRule,
  mergeRules,
  type Plural,
  privilegeWarning,
} from './access-rule.ts';
import { notesOfComputedNames } from './computed-names.ts';
import { conversionRule } from './conversion-rights.ts';
import { grantedRights } from './granted-rights.ts';
import { type HttpRights, httpRights } from './http-rights.ts';
import { installRights } from './install-rights.ts';
import { crdRight, ownKindRights } from './own-kind-rights.ts';
import { historyRights, keysRule, readRights } from './read-rights.ts';
import { type RequiredRight, type ResourceOf, rulesOf, watchVerbs } from './required-right.ts';
import { ruleText } from './roles-yaml.ts';
import { childRights, childrenOf, onDeleteRights, patchRights } from './written-rights.ts';

interface DefinitionRights {
  readonly rules: readonly MergedRule[];
  /** Notes for administrators. */
  readonly notes: readonly string[];
  /** Rules that grant more than they name, as messages. */
  readonly warnings: readonly string[];
}

interface DefinitionRightsOptions {
  /**
   * The rights in member clusters: of definitions that run there (`controller.clusters`), and on objects that others place there.
   * @default false: those in the cluster where each definition runs
   */
  readonly inMembers?: boolean;
  /** Of definitions that run in members, only the rights on the hub: those on their own objects (`install`). @default false */
  readonly isHub?: boolean;
  /** The namespace of the runtime. @default undefined: rights on its own objects are cluster-wide, and limited by their names */
  readonly namespace?: string;
}

/**
 * The rights that the runtime needs for these definitions, in addition to {@link runtimeRights}. Sends no requests: unknown plurals are
 * guessed, with a note.
 */
export function definitionRights(
  plans: readonly OperatorPlan[],
  known: KnownPlurals,
  { inMembers = false, isHub = false, namespace }: DefinitionRightsOptions = {},
): DefinitionRights {
  const pluralOf = createPluralOf(plans, known);
  const rules: AccessRule[] = [];
  const notes: string[] = [];
  const guessed = new Set<string>();
  for (const plan of plans) {
    const resourceOf = (gvk: Gvk) => notePlural(gvk, pluralOf(gvk), guessed);
    for (const own of [plan.install, plan.admission]) {
      if (own === undefined || inMembers) continue;
      const about = own === plan.admission ? () => '"admission"' : undefined;
      const installed = installRights(own, plan.definition.name, resourceOf, about);
      rules.push(...installed.rules);
      notes.push(...installed.notes);
    }
    if (isHub && runsInMembers(plan.definition)) continue;
    const isPlacing = inMembers && !runsInMembers(plan.definition);
    const placed = new Set(plan.children.filter(isPlaced).map(({ id }) => id));
    const granted = grantedRights(plan.definition, (id) => placed.has(id) === isPlacing);
    const own = isPlacing
      ? rulesOf(plan, placedRights(plan), resourceOf)
      : rightsOf(plan, resourceOf);
    const http = isPlacing || inMembers ? noHttpRights : httpRights(plan);
    rules.push(...http.rules, ...rulesOf(plan, http.rights, resourceOf));
    notes.push(...http.notes);
    const keys = isPlacing ? [] : keysRule(plan, inMembers ? 'kube-system' : namespace);
    const certificates = inMembers ? [] : conversionRule(plan, namespace);
    rules.push(...own, ...keys, ...certificates, ...granted.rules);
    notes.push(...granted.notes);
  }
  const merged = mergeRules(rules);
  return {
    rules: merged,
    notes: [...guessed, ...notes, ...notesOfComputedNames(plans, merged)],
    warnings: merged.flatMap(warningOf),
  };
}

function warningOf(rule: MergedRule): readonly string[] {
  const reason = privilegeWarning(rule);
  return reason === undefined ? [] : [`${rule.reasons.join('; ')}: ${ruleText(rule)}: ${reason}`];
}

function notePlural(gvk: Gvk, { plural, isGuessed }: Plural, notes: Set<string>): string {
  if (isGuessed)
    notes.add(`The plural of "${gvk.kind}" of "${apiVersionOf(gvk)}" is assumed to be "${plural}"`);
  return plural;
}

/** Objects behind HTTP are on the hub only. */
const noHttpRights: HttpRights = { rules: [], rights: [], notes: [] };

function rightsOf(plan: OperatorPlan, resourceOf: ResourceOf): readonly AccessRule[] {
  const { definition } = plan;
  const required = [
    ...ownKindRights(plan),
    ...childRights(childrenOf(plan).filter((each) => !isPlaced(each))),
    ...onDeleteRights(plan),
    ...readRights(plan.reads.filter((each) => !isPlaced(each))),
    ...historyRights(plan),
    ...patchRights(plan),
  ];
  const members = placesInMembers(plan) ? [membersRule(plan)] : [];
  return [...crdRight(definition), ...members, ...rulesOf(plan, required, resourceOf)];
}

/** On what a definition of the hub has in members. */
function placedRights({ children, reads }: OperatorPlan): readonly RequiredRight[] {
  return [...childRights(children.filter(isPlaced)), ...readRights(reads.filter(isPlaced))];
}

function membersRule({ name }: OperatorPlan): AccessRule {
  return {
    apiGroup: 'homeostat.dev',
    resource: 'clusters',
    verbs: watchVerbs,
    purpose: 'clusters',
    reason: `${name}: the member clusters of its objects`,
  };
}
