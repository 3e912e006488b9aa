//! Lists that hold each thing once.

pub(super) fn add_new<T: PartialEq>(list: &mut Vec<T>, item: Option<T>) {
    if let Some(item) = item
        && !list.contains(&item)
    {
        list.push(item);
    }
}
