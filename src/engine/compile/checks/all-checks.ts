import type { Check } from '../check-context.ts';
import { checkForEach, checkOnDelete } from './check-children.ts';
import { checkClusterStatus, warnAboutPlacedSecrets } from './check-clusters.ts';
import { checkLeftFields } from './check-left-fields.ts';
import { checkLists } from './check-lists.ts';
import { checkLongNames } from './check-long-names.ts';
import { checkManifests } from './check-manifests.ts';
import { checkNames } from './check-names.ts';
import { checkOperands } from './check-operands.ts';
import { checkPatchedStatus, checkRecordedTargets } from './check-patches.ts';
import { checkPaths } from './check-paths.ts';
import { checkReadNames, checkSelectors } from './check-reads.ts';
import { checkSameElements } from './check-same-elements.ts';
import { checkScope } from './check-scope.ts';
import { checkServices } from './check-services.ts';
import { checkSources, checkStatus, warnAboutWhen } from './check-status.ts';
import { checkSurge } from './check-surge.ts';
import { checkTexts } from './check-texts.ts';
import { checkTypes } from './check-types.ts';
import { warnAboutPlainPaths } from './plain-paths.ts';
import { warnAboutSchemas } from './schema-traps.ts';
import { warnAboutAutoscalers } from './warn-about-autoscalers.ts';
import { warnAboutComparisons } from './warn-about-comparisons.ts';
import { warnAboutKinds } from './warn-about-kinds.ts';
import { warnAboutUndesired } from './warn-about-undesired.ts';
import {
  checkConditions,
  warnAboutNames,
  warnAboutOptionalLists,
  warnAboutPrevious,
  warnAboutRestores,
  warnAboutSecrets,
  warnAboutVersions,
  warnAboutZeros,
} from './warnings.ts';

/** Checks that run after all templates are compiled. */
export const allChecks: readonly Check[] = [
  checkNames,
  checkPaths,
  checkPatchedStatus,
  checkRecordedTargets,
  checkTypes,
  checkTexts,
  checkOperands,
  checkManifests,
  checkLongNames,
  checkLists,
  checkLeftFields,
  checkServices,
  checkSources,
  checkStatus,
  checkForEach,
  checkSameElements,
  checkSurge,
  checkSelectors,
  checkReadNames,
  checkClusterStatus,
  checkScope,
  checkOnDelete,
  warnAboutWhen,
  warnAboutUndesired,
  warnAboutZeros,
  warnAboutVersions,
  checkConditions,
  warnAboutNames,
  warnAboutOptionalLists,
  warnAboutPlainPaths,
  warnAboutComparisons,
  warnAboutAutoscalers,
  warnAboutPrevious,
  warnAboutRestores,
  warnAboutKinds,
  warnAboutSecrets,
  warnAboutPlacedSecrets,
  warnAboutSchemas,
];
