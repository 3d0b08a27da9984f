import { checkAcceptedWarnings } from './accepted-warnings.ts';
import { checkAdmission } from './admission.ts';
import { checkAfter } from './after.ts';
import { checkClusters } from './clusters.ts';
import { checkController, checkSchedule, checkUpdateStrategy } from './controller.ts';
import { checkConversions } from './conversions.ts';
import { checkCrdConversion } from './crd-conversion.ts';
import { checkCrdDefaults } from './crd-defaults.ts';
import { checkCrdLists } from './crd-lists.ts';
import { checkCrdApproval, checkCrdNames, checkCrdOrFor } from './crd-names.ts';
import { checkCrdNestedValidation } from './crd-nested-validation.ts';
import { checkCrdStructure } from './crd-structure.ts';
import { checkCrdPatterns, checkCrdStatusSchema, checkCrdValidations } from './crd-validations.ts';
import {
  checkCrdPrinterColumns,
  checkCrdSelectableFields,
  checkCrdVersionFields,
} from './crd-version-fields.ts';
import { checkCrdVersions } from './crd-versions.ts';
import { checkDeleteAfter } from './delete-after.ts';
import { checkForKind } from './for-kind.ts';
import { checkHistory } from './history.ts';
import { checkIds, checkVarNames } from './ids.ts';
import { checkInstall } from './install.ts';
import { checkKinds } from './kinds.ts';
import { checkLeftFields } from './left-fields.ts';
import { checkChildNamespaces, checkServedNamespaces } from './namespaces.ts';
import { checkPatches } from './patches.ts';
import { checkReadNamespaces, checkReads } from './reads.ts';
import type { Rule } from './rule.ts';
import { checkConditionsAndEvents, checkSingleExpressions, checkStatusFields } from './status.ts';
import { checkTemplates } from './templates.ts';
import { checkMetadataName, checkSize, checkWellFormed } from './whole-document.ts';

/** Checks that the schema cannot express, or not with a good message. */
export const allRules: readonly Rule[] = [
  checkMetadataName,
  checkWellFormed,
  checkSize,
  checkCrdOrFor,
  checkForKind,
  checkCrdNames,
  checkCrdApproval,
  checkCrdVersions,
  checkCrdVersionFields,
  checkCrdConversion,
  checkConversions,
  checkCrdStructure,
  checkCrdNestedValidation,
  checkCrdLists,
  checkCrdDefaults,
  checkCrdPatterns,
  checkCrdValidations,
  checkCrdSelectableFields,
  checkCrdPrinterColumns,
  checkCrdStatusSchema,
  checkIds,
  checkVarNames,
  checkAfter,
  checkTemplates,
  checkKinds,
  checkChildNamespaces,
  checkSingleExpressions,
  checkReads,
  checkReadNamespaces,
  checkHistory,
  checkClusters,
  checkInstall,
  checkAdmission,
  checkStatusFields,
  checkConditionsAndEvents,
  checkPatches,
  checkSchedule,
  checkDeleteAfter,
  checkServedNamespaces,
  checkController,
  checkUpdateStrategy,
  checkLeftFields,
  checkAcceptedWarnings,
];
