import { checkAcceptedWarnings } from './accepted-warnings.ts';
import { checkClusters } from './clusters.ts';
import { checkController, checkSchedule, checkUpdateStrategy } from './controller.ts';
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
import { checkForKind } from './for-kind.ts';
import { checkHistory } from './history.ts';
import { checkAfter, checkIds, checkVarNames } from './ids.ts';
import { checkChildNamespaces, checkServedNamespaces } from './namespaces.ts';
import { checkPatches } from './patches.ts';
import { checkReadNamespaces, checkReads } from './reads.ts';
import type { Rule } from './rule.ts';
import { checkConditionsAndEvents, checkSingleExpressions, checkStatusFields } from './status.ts';
import { checkTemplates } from './templates.ts';
import {
  checkMetadataName,
  checkSize,
  checkUnsupportedFields,
  checkWellFormed,
} from './whole-document.ts';

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
  checkChildNamespaces,
  checkSingleExpressions,
  checkReads,
  checkReadNamespaces,
  checkHistory,
  checkClusters,
  checkStatusFields,
  checkConditionsAndEvents,
  checkPatches,
  checkSchedule,
  checkServedNamespaces,
  checkController,
  checkUpdateStrategy,
  checkAcceptedWarnings,
  checkUnsupportedFields,
];
