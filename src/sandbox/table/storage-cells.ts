import type { JsonObject } from '#util/json.ts';
import {
  ageOf,
  nameOf,
  objectIn,
  type PrintedRow,
  stringIn,
  textsIn,
  unset,
} from './cell-values.ts';
import { isDefault } from './network-cells.ts';

export function claimRow(claim: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [objectIn(claim, 'spec'), objectIn(claim, 'status')];
  const volume = stringIn(spec, 'volumeName');
  const isBound = volume !== '';
  return {
    cells: [
      nameOf(claim),
      phaseOf(claim),
      volume,
      isBound ? stringIn(objectIn(status, 'capacity'), 'storage') || '0' : '',
      isBound ? modesText(textsIn(status, 'accessModes')) : '',
      stringIn(spec, 'storageClassName'),
      stringIn(spec, 'volumeAttributesClassName') || unset,
      ageOf(claim, nowMs),
      stringIn(spec, 'volumeMode') || unset,
    ],
  };
}

export function volumeRow(volume: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [objectIn(volume, 'spec'), objectIn(volume, 'status')];
  const claim = objectIn(spec, 'claimRef');
  return {
    cells: [
      nameOf(volume),
      stringIn(objectIn(spec, 'capacity'), 'storage') || '0',
      modesText(textsIn(spec, 'accessModes')),
      stringIn(spec, 'persistentVolumeReclaimPolicy'),
      phaseOf(volume),
      spec.claimRef === undefined
        ? ''
        : `${stringIn(claim, 'namespace')}/${stringIn(claim, 'name')}`,
      stringIn(spec, 'storageClassName'),
      stringIn(spec, 'volumeAttributesClassName') || unset,
      stringIn(status, 'reason'),
      ageOf(volume, nowMs),
      stringIn(spec, 'volumeMode') || unset,
    ],
  };
}

function phaseOf(object: JsonObject): string {
  if (objectIn(object, 'metadata').deletionTimestamp !== undefined) return 'Terminating';
  return stringIn(objectIn(object, 'status'), 'phase');
}

const modeNames: readonly (readonly [mode: string, name: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

function modesText(modes: readonly string[]): string {
  return modeNames
    .filter(([mode]) => modes.includes(mode))
    .map(([, name]) => name)
    .join(',');
}

export function storageClassRow(storageClass: JsonObject, nowMs: number): PrintedRow {
  const mark = isDefault(storageClass, 'storageclass.kubernetes.io/is-default-class')
    ? ' (default)'
    : '';
  return {
    cells: [
      `${nameOf(storageClass)}${mark}`,
      stringIn(storageClass, 'provisioner'),
      stringIn(storageClass, 'reclaimPolicy') || 'Delete',
      stringIn(storageClass, 'volumeBindingMode') || 'Immediate',
      storageClass.allowVolumeExpansion === true,
      ageOf(storageClass, nowMs),
    ],
  };
}
