import type { JsonObject } from '../../util/json.ts';
import { ageOf, nameOf, type PrintedRow, part, textIn, textsIn, unset } from './cell-values.ts';
import { isDefault } from './network-cells.ts';

export function claimRow(claim: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [part(claim, 'spec'), part(claim, 'status')];
  const volume = textIn(spec, 'volumeName');
  const isBound = volume !== '';
  return {
    cells: [
      nameOf(claim),
      phaseOf(claim),
      volume,
      isBound ? textIn(part(status, 'capacity'), 'storage') || '0' : '',
      isBound ? modesText(textsIn(status, 'accessModes')) : '',
      textIn(spec, 'storageClassName'),
      textIn(spec, 'volumeAttributesClassName') || unset,
      ageOf(claim, nowMs),
      textIn(spec, 'volumeMode') || unset,
    ],
  };
}

export function volumeRow(volume: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [part(volume, 'spec'), part(volume, 'status')];
  const claim = part(spec, 'claimRef');
  return {
    cells: [
      nameOf(volume),
      textIn(part(spec, 'capacity'), 'storage') || '0',
      modesText(textsIn(spec, 'accessModes')),
      textIn(spec, 'persistentVolumeReclaimPolicy'),
      phaseOf(volume),
      spec.claimRef === undefined ? '' : `${textIn(claim, 'namespace')}/${textIn(claim, 'name')}`,
      textIn(spec, 'storageClassName'),
      textIn(spec, 'volumeAttributesClassName') || unset,
      textIn(status, 'reason'),
      ageOf(volume, nowMs),
      textIn(spec, 'volumeMode') || unset,
    ],
  };
}

function phaseOf(object: JsonObject): string {
  if (part(object, 'metadata').deletionTimestamp !== undefined) return 'Terminating';
  return textIn(part(object, 'status'), 'phase');
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
      textIn(storageClass, 'provisioner'),
      textIn(storageClass, 'reclaimPolicy') || 'Delete',
      textIn(storageClass, 'volumeBindingMode') || 'Immediate',
      storageClass.allowVolumeExpansion === true,
      ageOf(storageClass, nowMs),
    ],
  };
}
