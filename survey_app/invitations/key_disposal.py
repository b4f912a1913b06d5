"""What a closed survey no longer needs is destroyed: its private key, and the hashes of what was signed with it.

Right after a survey was closed by hand; and, for whatever closed by its date, is gone, or could not be ended then, when
a server starts, whenever it tidies up, and every minute. Nobody publishes meanwhile, so a key without a survey is one
that came to nothing.
"""

import logging

from survey_app.store import Store, TicketFile, Unavailable

log = logging.getLogger(__name__)


def end_closed(file: TicketFile, store: Store) -> bool:
    """Destroy what belongs to closed surveys, and forget what belongs to deleted ones; False if it cannot be now."""
    try:
        _end_closed(file, store)
    except (Unavailable, OSError) as error:
        log.warning("keys of closed surveys could not be destroyed yet: %s", error)
        return False
    return True


def _end_closed(file: TicketFile, store: Store) -> None:
    if not file.slugs():
        return
    with file.alone():
        for kept in file.living():
            if kept.digest is None or kept.definition is not None:  # an issuer's, who knows no store
                continue
            published = store.version(kept.slug, kept.digest)
            if published is None:
                file.drop_key(kept.digest)
            elif store.is_final(published):
                file.end(kept.digest)
        for slug in file.slugs():
            if store.newest(slug) is None:
                file.forget(slug)
