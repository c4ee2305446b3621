/** The session of an agent program that drives a task (reference §30). Nobody is shown it. */
export interface EngineSession {
  /** The name of the engine. */
  engine: string;
  /** As the program says. */
  version: string;
  id: string;
}
