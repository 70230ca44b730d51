import { after } from 'node:test';
import { demonstrateCity } from '../support/city-demonstration.js';
import { stopAll } from '../support/gateway-harness.js';

after(stopAll);

demonstrateCity({ entities: 80, broken: 10, batch: 20 });
