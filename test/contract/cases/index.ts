import type { ContractCase } from '../driver/index.ts';
import { alternatives } from './alternatives.ts';
import { applies } from './applies.ts';
import { applyConflicts } from './apply-conflicts.ts';
import { applyMerges } from './apply-merges.ts';
import { applyRejections } from './apply-rejections.ts';
import { attacks } from './attacks.ts';
import { bookmarks } from './bookmarks.ts';
import { clientApplies } from './client-applies.ts';
import { conversionParts } from './conversion-parts.ts';
import { conversions } from './conversions.ts';
import { crdLives } from './crd-lives.ts';
import { crdNames } from './crd-names.ts';
import { crdParts } from './crd-parts.ts';
import { crdCases } from './crds.ts';
import { creates } from './creates.ts';
import { dataMistakes } from './data-mistakes.ts';
import { deletes } from './deletes.ts';
import { discoveries } from './discoveries.ts';
import { eventCases } from './events.ts';
import { guarded } from './guarded.ts';
import { keptObjects } from './kept-objects.ts';
import { listVersions } from './list-versions.ts';
import { lists } from './lists.ts';
import { malformed } from './malformed.ts';
import { names } from './names.ts';
import { networkMistakes } from './network-mistakes.ts';
import { policyCases as policies } from './policies.ts';
import { policyMutationCases } from './policy-mutations.ts';
import { policyObjectCases } from './policy-objects.ts';
import { policyRequestCases } from './policy-requests.ts';
import { ratchets } from './ratchets.ts';
import { releases } from './releases.ts';
import { removedVersions } from './removed-versions.ts';
import { replications } from './replications.ts';
import { reviews } from './reviews.ts';
import { rules } from './rules.ts';
import { scales } from './scales.ts';
import { serviceTypes } from './service-types.ts';
import { strategics } from './strategics.ts';
import { structural } from './structural.ts';
import { structuralValues } from './structural-values.ts';
import { tables } from './tables.ts';
import { templateMistakes } from './template-mistakes.ts';
import { updates } from './updates.ts';
import { validations } from './validations.ts';
import { watches } from './watches.ts';
import { webhooks } from './webhooks.ts';
import { workloadMistakes } from './workload-mistakes.ts';
import { workloads } from './workloads.ts';

/** All cases, by what they are about. */
export const contractCases: Readonly<Record<string, readonly ContractCase[]>> = {
  creates,
  names,
  updates,
  applies,
  'apply-conflicts': applyConflicts,
  'apply-merges': applyMerges,
  'apply-rejections': applyRejections,
  'client-applies': clientApplies,
  guarded,
  deletes,
  'kept-objects': keptObjects,
  releases,
  lists,
  'list-versions': listVersions,
  watches,
  bookmarks,
  validations,
  alternatives,
  ratchets,
  workloads,
  replications,
  'template-mistakes': templateMistakes,
  'workload-mistakes': workloadMistakes,
  'network-mistakes': networkMistakes,
  'service-types': serviceTypes,
  'data-mistakes': dataMistakes,
  policies,
  'policy-mutations': policyMutationCases,
  'policy-objects': policyObjectCases,
  'policy-requests': policyRequestCases,
  webhooks,
  scales,
  strategics,
  tables,
  reviews,
  rules,
  events: eventCases,
  crds: crdCases,
  'crd-lives': crdLives,
  'removed-versions': removedVersions,
  conversions,
  'conversion-parts': conversionParts,
  'crd-parts': crdParts,
  structural,
  'structural-values': structuralValues,
  'crd-names': crdNames,
  discoveries,
  malformed,
  attacks,
};
