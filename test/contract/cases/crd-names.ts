import type { Json, JsonObject } from '#util/json.ts';
import type { ContractCase, ContractStep, UntilStep } from '../driver/index.ts';
import { type CrdOptions, crd, crds, gadgets, whenServed } from './gadgets.ts';
import { get, merge, post, remove } from './requests.ts';

const first = `${crds}/gadgets.$(ns).io`;
const second = `${crds}/devices.$(ns).io`;
const devices = '/apis/$(ns).io/v1/namespaces/$(ns)/devices';

/** Another CRD of the same group. */
function another(names: JsonObject, group = '$(ns).io'): JsonObject {
  const options: CrdOptions = {
    group,
    name: `devices.${group}`,
    names: { plural: 'devices', kind: 'Device', ...names },
  };
  return crd(options);
}

function made(body: Json): ContractStep {
  return post(crds, body, { status: 201 });
}

interface Standing {
  readonly names: JsonObject;
  /** Reason and message. */
  readonly conflict?: readonly [string, string];
  /** @default whether there is no conflict */
  readonly isEstablished?: boolean;
}

/** Conditions and names of a CRD, when its controllers have looked at it. */
function untilNamed(path: string, standing: Standing): UntilStep {
  const { names, conflict, isEstablished = conflict === undefined } = standing;
  const [reason, message] = conflict ?? ['NoConflicts', 'no conflicts found'];
  const established = isEstablished
    ? { status: 'True', reason: 'InitialNamesAccepted' }
    : { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
  const conditions = [
    { type: 'NamesAccepted', status: conflict === undefined ? 'True' : 'False', reason, message },
    { type: 'Established', ...established },
  ];
  return {
    until: path,
    expect: {
      status: 200,
      body: { status: { acceptedNames: names, conditions } },
      differs: { 'metadata.managedFields': whenServed['metadata.managedFields'] },
    },
  };
}

const gadgetNames = {
  plural: 'gadgets',
  singular: 'gadget',
  kind: 'Gadget',
  listKind: 'GadgetList',
};
const deviceNames = {
  plural: 'devices',
  singular: 'device',
  kind: 'Device',
  listKind: 'DeviceList',
};

/** Names of kinds: within a group each has one holder. */
export const crdNames: readonly ContractCase[] = [
  {
    name: 'a CRD with the kind of another one of its group is not served before that is gone',
    steps: [
      made(crd()),
      untilNamed(first, { names: gadgetNames }),
      made(another({ kind: 'Gadget' })),
      untilNamed(second, {
        names: { plural: 'devices', singular: null, kind: '', listKind: null },
        conflict: ['ListKindConflict', '"GadgetList" is already in use'],
      }),
      get(devices, { status: 404 }),
      remove(first, undefined, { status: 200 }),
      { until: first, expect: { status: 404 } },
      untilNamed(second, { names: { ...gadgetNames, plural: 'devices' } }),
      { until: devices, expect: { status: 200, body: { kind: 'GadgetList' } } },
      get(gadgets, { status: 404 }),
    ],
  },
  {
    name: 'a short name that another CRD has: the others are given, and all of them when it is taken back',
    steps: [
      made(crd({ names: { shortNames: ['gd', 'ga'] } })),
      untilNamed(first, { names: { ...gadgetNames, shortNames: ['gd', 'ga'] } }),
      made(another({ shortNames: ['dv', 'gd', 'ga'] })),
      untilNamed(second, {
        names: { ...deviceNames, shortNames: null },
        conflict: ['ShortNamesConflict', '["gd" is already in use, "ga" is already in use]'],
      }),
      merge(
        second,
        { spec: { names: { shortNames: ['dv'] } } },
        { status: 200, differs: whenServed },
      ),
      untilNamed(second, { names: { ...deviceNames, shortNames: ['dv'] } }),
      { until: devices, expect: { status: 200 } },
    ],
  },
  {
    name: 'an established CRD that wants a name of another keeps what it has, and is served',
    steps: [
      made(crd({ names: { shortNames: ['gd'] } })),
      made(another({ shortNames: ['dv'] })),
      untilNamed(first, { names: { ...gadgetNames, shortNames: ['gd'] } }),
      untilNamed(second, { names: { ...deviceNames, shortNames: ['dv'] } }),
      merge(
        second,
        { spec: { names: { shortNames: ['dv', 'gd'], singular: 'gadget' } } },
        { status: 200, differs: whenServed },
      ),
      untilNamed(second, {
        names: { ...deviceNames, shortNames: ['dv'] },
        conflict: ['ShortNamesConflict', '"gd" is already in use'],
        isEstablished: true,
      }),
      { until: devices, expect: { status: 200 } },
    ],
  },
  {
    name: 'plurals, singulars and short names share one space',
    steps: [
      made(crd({ names: { shortNames: ['devices'] } })),
      untilNamed(first, { names: { ...gadgetNames, shortNames: ['devices'] } }),
      made(another({})),
      untilNamed(second, {
        names: { plural: '', singular: 'device', kind: 'Device', listKind: 'DeviceList' },
        conflict: ['PluralConflict', '"devices" is already in use'],
      }),
    ],
  },
  {
    name: 'in another group the same names are free',
    steps: [
      made(crd()),
      untilNamed(first, { names: gadgetNames }),
      made(another({ kind: 'Gadget', singular: 'gadget' }, 'other.$(ns).io')),
      untilNamed(`${crds}/devices.other.$(ns).io`, {
        names: { ...gadgetNames, plural: 'devices' },
      }),
    ],
  },
];
