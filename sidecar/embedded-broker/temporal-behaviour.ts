/** How the embedded broker departs from the standard with temporal data; every field may be changed while it runs. */
export interface TemporalBehaviour {
  /** Status of every temporal request, e.g. 501. */
  temporalStatus: number | undefined;
  /** Status of temporal requests that would change something. */
  temporalWriteStatus: number | undefined;
  /** Instances are shown without `instanceId`, so that none can be deleted alone. */
  noInstanceIds: boolean;
  /** Of each attribute only so many instances are ever shown, the newest, and nothing tells that there are more. */
  silentInstanceLimit: number | undefined;
  /** Most instances of an attribute in one answer, in place of the broker's own limit; a partial answer is 206. */
  instancePageSize: number | undefined;
  /** Values of `timeproperty` that are refused with 400. */
  refusedTimeProperties: readonly string[];
  /** Values of `timeproperty` that no instance has, as if the broker kept no such times: nothing is found by them. */
  timePropertiesMissing: readonly string[];
  /**
   * Entities are selected, counted and paged whatever the time of their instances. Those without an instance in the
   * interval are then left out of the page, which comes short, or empty before the end.
   */
  selectsIgnoringTime: boolean;
  /** `after` and `between` begin behind `timeAt`. */
  exclusiveBounds: boolean;
  /** q and geoqueries select instances rather than entities: nothing but what matches by itself is shown. */
  qShowsMatchesOnly: boolean;
  /** `lastN` is refused with 400. */
  noLastN: boolean;
  /** `lastN` takes the newest instances of all, and only those of them in the interval are shown. */
  lastNBeforeTime: boolean;
  /** Deleting a temporal entity deletes the current entity with its id. */
  deletesCurrentToo: boolean;
  /** What of a temporal entity cannot be deleted: 409. `instanceId` is undefined when an attribute is to go. */
  isLockedInstance: InstanceTest;
  /** What of a temporal entity is claimed to be deleted and is not. */
  isGhostInstance: InstanceTest;
}

export type InstanceTest = (entityId: string, attribute: string, instanceId: string | undefined) => boolean;

/** Temporal data as the standard has it. */
export function goodTemporalBehaviour(): TemporalBehaviour {
  return {
    temporalStatus: undefined,
    temporalWriteStatus: undefined,
    noInstanceIds: false,
    silentInstanceLimit: undefined,
    instancePageSize: undefined,
    refusedTimeProperties: [],
    timePropertiesMissing: [],
    selectsIgnoringTime: false,
    exclusiveBounds: false,
    qShowsMatchesOnly: false,
    noLastN: false,
    lastNBeforeTime: false,
    deletesCurrentToo: false,
    isLockedInstance: () => false,
    isGhostInstance: () => false,
  };
}
