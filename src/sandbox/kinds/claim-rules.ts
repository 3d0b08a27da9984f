import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { dnsSubdomain } from '../metadata/name-rules.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/field-error.ts';
import { type Check, errorsOf, fields } from './field-checks.ts';
import { billionthsOf } from './resource-rules.ts';
import { labelSelectorErrors } from './selector-rules.ts';

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const volumeModes = ['Block', 'Filesystem'];

/** Validates the spec of a volume claim, or of a template for one. */
export function claimSpecErrors(spec: JsonObject, at: string): readonly FieldError[] {
  const requests = objectField(objectField(spec, 'resources') ?? {}, 'requests') ?? {};
  const storageClass = stringField(spec, 'storageClassName') ?? '';
  const mode = stringField(spec, 'volumeMode') ?? '';
  return [
    ...(listField(spec, 'accessModes').length === 0
      ? [requiredField(`${at}.accessModes`, 'at least 1 access mode is required')]
      : []),
    ...labelSelectorErrors(objectField(spec, 'selector') ?? {}, `${at}.selector`),
    ...accessModeErrors(listField(spec, 'accessModes'), `${at}.accessModes`),
    ...errorsOf(sources, spec, at),
    ...sourceMismatch(spec, at),
    ...storageErrors(requests.storage, `${at}.resources[storage]`),
    ...(storageClass === ''
      ? []
      : dnsSubdomain(storageClass).map((message) =>
          invalidField(`${at}.storageClassName`, storageClass, message),
        )),
    ...(volumeModes.includes(mode)
      ? []
      : [unsupportedValue(`${at}.volumeMode`, mode, volumeModes)]),
  ];
}

const source: Check = ({ value, at }) => {
  if (!isJsonObject(value)) return [];
  const [name, kind, group] = ['name', 'kind', 'apiGroup'].map(
    (field) => stringField(value, field) ?? '',
  );
  const isForeign = group === '' && kind !== 'PersistentVolumeClaim';
  const detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
  return [
    ...(name === '' ? [requiredField(`${at}.name`)] : []),
    ...(kind === '' ? [requiredField(`${at}.kind`)] : []),
    ...(isForeign ? [invalidField(at, kind, detail)] : []),
    ...(group
      ? dnsSubdomain(group).map((message) => invalidField(`${at}.apiGroup`, group, message))
      : []),
  ];
};

/** The two fields of a source are equal. The server prints an empty struct. */
function sourceMismatch({ dataSource, dataSourceRef }: JsonObject, at: string) {
  if (!isJsonObject(dataSource) || !isJsonObject(dataSourceRef)) return [];
  if (dataSourceRef.namespace || deepEqual(dataSource, dataSourceRef)) return [];
  return [invalidField(at, {}, 'must match dataSourceRef')];
}

const sources = fields({ dataSource: source, dataSourceRef: source });

export function accessModeErrors(modes: readonly Json[], at: string): readonly FieldError[] {
  const known = modes.filter((mode) => accessModes.includes(String(mode)));
  const isMixed = known.includes('ReadWriteOncePod') && new Set(known).size > 1;
  return [
    ...modes
      .filter((mode) => !accessModes.includes(String(mode)))
      .map((mode) => unsupportedValue(at, mode, accessModes)),
    ...(isMixed
      ? [forbiddenField(at, 'may not use ReadWriteOncePod with other access modes')]
      : []),
  ];
}

function storageErrors(storage: Json | undefined, at: string): readonly FieldError[] {
  if (storage === undefined) return [requiredField(at)];
  return billionthsOf(storage) > 0n ? [] : [invalidField(at, storage, 'must be greater than zero')];
}
