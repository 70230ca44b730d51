/** A few entities to try the gateway with: some vehicles faster than 100 km/h, some slower, and some buildings. */
export const sampleEntities: readonly object[] = [
  vehicle('Car:A1', 'Volvo', 128, [-3.7038, 40.4168]),
  vehicle('Car:A2', 'Seat', 47, [-3.6885, 40.4153]),
  vehicle('Car:A3', 'Tesla', 112, [-3.6826, 40.453]),
  vehicle('Truck:B1', 'Scania', 89, [-0.3763, 39.4699]),
  vehicle('Truck:B2', 'MAN', 101, [2.1734, 41.3851]),
  vehicle('Bus:C1', 'Irizar', 33, [-3.7026, 40.4203]),
  building('Museum', 'Museum of the City', ['museum', 'public'], [-3.7003, 40.4259]),
  building('TownHall', 'Town Hall', ['government'], [-3.6922, 40.4192]),
  building('Depot', 'Bus Depot', ['transport'], [-3.6769, 40.3981]),
];

function vehicle(
  name: string,
  brandName: string,
  speed: number,
  coordinates: readonly [number, number],
): object {
  return {
    id: `urn:ngsi-ld:Vehicle:${name}`,
    type: 'Vehicle',
    brandName: { type: 'Property', value: brandName },
    speed: { type: 'Property', value: speed, unitCode: 'KMH', observedAt: '2026-01-15T08:30:00Z' },
    location: { type: 'GeoProperty', value: { type: 'Point', coordinates } },
    depot: { type: 'Relationship', object: 'urn:ngsi-ld:Building:Depot' },
  };
}

function building(
  name: string,
  title: string,
  category: readonly string[],
  coordinates: readonly [number, number],
): object {
  return {
    id: `urn:ngsi-ld:Building:${name}`,
    type: 'Building',
    name: { type: 'Property', value: title },
    category: { type: 'Property', value: category },
    location: { type: 'GeoProperty', value: { type: 'Point', coordinates } },
  };
}

const MONTHS = 6;
const DAYS_APART = 10;
const START = Date.UTC(2025, 6, 1, 8);
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The history of two of the sample vehicles, to try a temporal purge with: the speed every ten days from July to
 * December 2025. One vehicle also has a fuel level, the other a second speed measured by GPS.
 */
export const sampleHistory: readonly object[] = [
  {
    id: 'urn:ngsi-ld:Vehicle:Car:A1',
    type: 'Vehicle',
    speed: series((index) => ({ value: 90 + ((index * 37) % 50), unitCode: 'KMH' })),
    fuelLevel: series((index) => ({ value: 90 - (index % 6) * 15, unitCode: 'P1' })),
  },
  {
    id: 'urn:ngsi-ld:Vehicle:Truck:B1',
    type: 'Vehicle',
    speed: [
      ...series((index) => ({ value: 60 + ((index * 23) % 35), unitCode: 'KMH' })),
      ...series((index) => ({
        value: 62 + ((index * 29) % 35),
        unitCode: 'KMH',
        datasetId: 'urn:ngsi-ld:Dataset:gps',
      })),
    ],
  },
];

/** Makes instances of a Property, evenly spread over some months. */
function series(make: (index: number) => object): readonly object[] {
  return Array.from({ length: (MONTHS * 30) / DAYS_APART }, (_, index) => ({
    type: 'Property',
    ...make(index),
    observedAt: new Date(START + index * DAYS_APART * DAY_MS).toISOString(),
  }));
}
