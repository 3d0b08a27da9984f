import { checkAfter } from './after.ts';
import { checkChildNamespaces } from './child-namespaces.ts';
import { checkConditions } from './conditions.ts';
import { checkController } from './controller.ts';
import { checkCrdApproval } from './crd-approval.ts';
import { checkCrdDefaults } from './crd-defaults.ts';
import { checkCrdLists } from './crd-lists.ts';
import { checkCrdNames } from './crd-names.ts';
import { checkCrdNestedValidation } from './crd-nested-validation.ts';
import { checkCrdOrFor } from './crd-or-for.ts';
import { checkCrdPatterns } from './crd-patterns.ts';
import { checkCrdSelectableFields } from './crd-selectable-fields.ts';
import { checkCrdStatusSchema } from './crd-status-schema.ts';
import { checkCrdStructure } from './crd-structure.ts';
import { checkCrdValidations } from './crd-validations.ts';
import { checkCrdVersionFields } from './crd-version-fields.ts';
import { checkCrdVersions } from './crd-versions.ts';
import { checkForKind } from './for-kind.ts';
import { checkIds } from './ids.ts';
import { checkLaterFields } from './later-fields.ts';
import { checkLife } from './life.ts';
import { checkMetadataName } from './metadata-name.ts';
import { checkPatches } from './patches.ts';
import { checkReadNamespaces } from './read-namespaces.ts';
import { checkReads } from './reads.ts';
import { checkReported } from './reported-conditions.ts';
import type { Rule } from './rule.ts';
import { checkSchedule } from './schedule.ts';
import { checkServedNamespaces } from './served-namespaces.ts';
import { checkStatusFields } from './status-fields.ts';
import { checkTemplates } from './templates.ts';
import { checkVarNames } from './var-names.ts';

/** What the schema cannot say, or not well. */
export const allRules: readonly Rule[] = [
  checkMetadataName,
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
  checkCrdStatusSchema,
  checkIds,
  checkVarNames,
  checkAfter,
  checkTemplates,
  checkChildNamespaces,
  checkConditions,
  checkReads,
  checkReadNamespaces,
  checkStatusFields,
  checkReported,
  checkPatches,
  checkSchedule,
  checkServedNamespaces,
  checkController,
  checkLife,
  checkLaterFields,
];
