"""Destroying the private keys of closed surveys, and the hashes of the messages signed with them.

This happens right after a survey is closed by hand. It also happens when a server starts, after every rewrite of the
store, and every minute. That covers surveys that closed by their date, that were deleted, or whose keys could not be
destroyed earlier. Publishing is locked meanwhile, so a key without a survey belongs to a failed publication.
"""

import logging

from survey_app.store import Store, TicketFile, Unavailable

log = logging.getLogger(__name__)


def destroy_closed_keys(file: TicketFile, store: Store) -> bool:
    """Destroy the keys of closed surveys, and delete all ticket data of deleted ones; return whether that succeeded."""
    try:
        _destroy_closed_keys(file, store)
    except (Unavailable, OSError) as error:
        log.warning("keys of closed surveys could not be destroyed yet: %s", error)
        return False
    return True


def _destroy_closed_keys(file: TicketFile, store: Store) -> None:
    if not file.slugs():
        return
    with file.lock():
        for key in file.active_keys():
            if key.digest is None or key.definition is not None:  # for a survey of another server
                continue
            published = store.version(key.slug, key.digest)
            if published is None:
                file.drop_key(key.digest)
            elif store.is_final(published):
                file.destroy_key(key.digest)
        for slug in file.slugs():
            if store.newest_version(slug) is None:
                file.delete_slug(slug)
