import { type ExtensionCommand, WorkspacesService } from 'millwright';
import { ReviewStore } from './reviews.store.js';

export const REVIEWS_COMMANDS: Record<string, ExtensionCommand> = {
  list: {
    description: 'the reviews of a workspace',
    required: { '--workspace <slug>': 'which workspace' },
    async run(services, { workspace }) {
      const { id } = await services.get(WorkspacesService).get(String(workspace));
      const reviews = await services.get(ReviewStore).ofWorkspace(id);
      return { reviews: reviews.map(({ id, task, rating, text }) => ({ id, task: task.title, rating, text })) };
    },
  },
  'delete <id>': {
    description: 'deletes a review',
    async run(services, _options, id) {
      await services.get(ReviewStore).delete(id);
      return { deleted: true, id };
    },
  },
};
