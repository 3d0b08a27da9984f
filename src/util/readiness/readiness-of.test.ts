import { describe } from 'node:test';
import { condition, seen, testReadiness } from '../../../test/support/readiness-cases.ts';

describe('util/readiness', () => {
  testReadiness('example.com/v1 PodSet', [
    ['nothing said', {}, 'Ready', 'Current'],
    ['ready', seen({}, [condition('Ready', 'True')]), 'Ready', 'Ready'],
    [
      'not ready',
      seen({}, [condition('Ready', 'False', 'Waiting')]),
      'Progressing',
      'Ready is False (Waiting)',
    ],
    ['not known', seen({}, [condition('Ready', 'Unknown')]), 'Progressing', 'Ready is Unknown'],
    [
      'an older generation',
      { status: { observedGeneration: 1, conditions: [condition('Ready', 'True')] } },
      'Progressing',
      'Its controller has not observed the last change yet',
    ],
    [
      'a generation that the object does not have',
      { metadata: { name: 'x' }, status: { observedGeneration: 1 } },
      'Ready',
      'Current',
    ],
    [
      'reconciling',
      seen({}, [condition('Ready', 'True'), condition('Reconciling', 'True', 'Unstable')]),
      'Progressing',
      'Reconciling is True (Unstable)',
    ],
    [
      'stalled',
      seen({}, [condition('Reconciling', 'True'), condition('Stalled', 'True', 'Broken')]),
      'Failed',
      'Stalled is True (Broken)',
    ],
    [
      'being deleted',
      { metadata: { name: 'x', deletionTimestamp: 't' } },
      'Progressing',
      'It is being deleted',
    ],
    ['a status of another shape', { status: { conditions: { Ready: true } } }, 'Ready', 'Current'],
  ]);

  testReadiness('v1 ConfigMap', [['there', { data: {} }, 'Ready', 'Current']]);
});
