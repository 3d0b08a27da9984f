/** Name of the controller: flow, field manager, Events. */
export const controllerName = 'http-objects';

/** Writes of statuses and Secrets. */
export const statusManager = 'homeostat/http-objects.status';
export const secretManager = 'homeostat/http-objects';

/** On the Secret for values of an answer: the key of the create, and the id of the object. */
export const secretCreateAnnotation = 'homeostat.dev/http-create';
export const secretIdAnnotation = 'homeostat.dev/http-id';

/** Label of namespaces whose Secrets and ConfigMaps are read. */
export const httpLabel = 'homeostat.dev/http';
