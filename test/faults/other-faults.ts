/** A row of `docs/reliability.md` that a test of its own makes true. */
export interface OtherFault {
  /** The name of the test, or how it begins. */
  readonly name: string;
  readonly injected: string;
  readonly oracle: string;
  readonly runs: string;
}

/** What needs more than one process before one server, by the tests that run it. */
export const otherFaults = {
  killSweep: {
    name: 'SIGKILL at every write in turn',
    injected:
      'the process is killed at the first write of a creation, then at the second, until there are no more; then the same for an edit that prunes; another one is started',
    oracle: 'nothing is created twice',
    runs: 'every write of both, three times: not carried out; carried out, its answer lost; answered',
  },
  deletionSweep: {
    name: 'SIGKILL at every write of a life with a finalizer',
    injected:
      'a resource with children in two namespaces, one of them orphaned, and with `onDelete` comes and goes; the process is killed at the first write of that, then at the second, until there are no more; another one is started',
    oracle:
      'the resource goes, nothing that is labelled for it stays behind, the orphan stays and is released',
    runs: 'every write, twice: not carried out; carried out, its answer lost',
  },
  apiServerKilled: {
    name: 'the API server is killed in the middle of 200 creations',
    injected:
      'SIGKILL at the 200th write of the process, which is lost; the server is started again',
    oracle: 'nothing is created twice, nothing deleted, the process is the same',
    runs: 'once',
  },
  etcdRestored: {
    name: 'etcd is restored from before the last 50 writes',
    injected:
      'after the creations etcd’s data is copied; after the edits, and at least a hundred writes, all servers are started on the copy',
    oracle:
      'the world is that after the creations, with the same UIDs, then after new edits that after the edits; the process is the same',
    runs: 'once',
  },
  outdatedLeader: {
    name: 'a new leader does nothing before it has read what is wanted',
    injected:
      'a user changes a definition, adds one and pauses that while one process leads; another takes the lead, and its lists of ConfigMaps with definitions and of their objects are held',
    oracle:
      'until they are let go it writes nothing, then what the newest texts say; nothing is deleted, and the mark stays',
    runs: 'once',
  },
  leftovers: {
    name: 'what goes leaves nothing behind',
    injected: '60 resources come and go four times while watches are cut and answers are lost',
    oracle: 'the last two rounds leave less than their objects would take on the heap',
    runs: 'once',
  },
} satisfies Readonly<Record<string, OtherFault>>;
